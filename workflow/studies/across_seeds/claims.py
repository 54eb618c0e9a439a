"""The claim that all models oversmooth (thesis 4.2), above what chance in training shows."""

from oversmoothing.claims.choose import full_rank, ranked
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, Value
from oversmoothing.claims.evidence import Evidence, Run, Source
from oversmoothing.claims.members import Member
from oversmoothing.claims.published import Published
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.record import read_record
from studies.across_seeds.table import FLOOR, LEAST, pseudo_values


def all_oversmooth(evidence: Evidence) -> list[Comparison]:
    """Compare every rank with what two full models of different seeds show against each other, under each metric."""
    full = full_rank(ranked(evidence))
    return [
        evidence.compare(
            evidence.score(metric, member),
            evidence.value(OF_EQUALS, full, metric),
            f"{METRICS[metric].label}, {member}",
        )
        for metric in AGAINST_TRUTHS
        for member in evidence.family
    ]


def _of_run(run: Run, member: Member, metric: str) -> Value:
    """Return the floor as a mean over seeds, whose interval is then that of `table.of_pairs`."""
    if len(member.models) < LEAST:
        raise Missing(f"the floor takes {LEAST} seeds, and there are {len(member.models)} of {member}")
    table = read_record(run.path("tables", "across_seeds"))
    pairs = table[(table.measure == f"{metric}{FLOOR}") & table.model.isin(member.models)]
    names = list(member.models)
    if pairs.empty:
        raise Missing(f"the models of {member} were not held against each other")
    square = pairs.pivot_table(index="model", columns="truth", values="value").reindex(index=names, columns=names)
    return Value(tuple(pseudo_values(square.to_numpy())), member.trainings, metric)


def _printed(published: Published, member: Member, metric: str) -> Value:
    raise Missing("the thesis trained no model twice")


OF_EQUALS = Source("floor", _of_run, _printed)

CLAIMS = [
    Claim(
        "all-oversmooth",
        "4.2, Tables 4.1 and 4.2",
        "All models oversmooth under TTO, NSMD, TV and KL, including the full-rank one.",
        "Each rank less the floor, which is what full-rank models show with one that differs in nothing but its seed "
        "as the truth; paired by seed. Above 0 would be any model that is not the truth.",
        all_oversmooth,
    ),
]
