"""Claims about bytes that a head can never make the most probable (thesis 4.3 and appendix B)."""

import math

import numpy as np

from oversmoothing.claims.choose import each, extreme, neighbours, rarest_bytes
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, Value
from oversmoothing.claims.evidence import Evidence, Margin, Run, Source
from oversmoothing.claims.members import Member
from oversmoothing.claims.published import NO_FIGURES, Published
from oversmoothing.store.parquet import read_table
from studies.argmaxable_classes.table import PUBLISHED_CONDITION


def low_ranks_cannot_predict_the_rarest(evidence: Evidence) -> list[Comparison]:
    """Count the ten rarest bytes that ranks 4 and 8 could predict from some hidden state."""
    compared = []
    for model in each(extreme(evidence.family)):
        rarest = rarest_bytes(evidence)
        able = evidence.value(ARGMAXABLE, model, *map(str, rarest)).mean
        name = f"argmaxable among the {len(rarest)} rarest bytes, {model}"
        compared.append(Comparison(name, able, able, able, n=len(rarest), exactly=True))
    return compared


def unargmaxable_bytes_fall(evidence: Evidence) -> list[Comparison]:
    """Compare the number of unargmaxable bytes at each rank with that at the next, as long as there are any."""
    compared = []
    for a, b in neighbours(evidence.family):
        first, second = (evidence.value(UNARGMAXABLE, member) for member in (a, b))
        if first.mean or second.mean:
            compared.append(evidence.compare(first, second, f"unargmaxable bytes, {a} against {b}"))
    if not compared:
        raise Missing("every model can predict every byte")
    return compared


def _of_run(run: Run, member: Member) -> Value:
    counts = tuple(float(len(_unargmaxable(run, model))) for model in member.models)
    return Value(counts, member.trainings, "unargmaxable", size=math.sqrt(np.mean(counts)))  # as counts vary


def _printed(published: Published, member: Member) -> Value:
    return Value((float(published.table("b").set_index("model")["count"][member.models[0]]),))


def _among(run: Run, member: Member, *classes: str) -> Value:
    able = [len(set(map(int, classes)) - _unargmaxable(run, model)) for model in member.models]
    return Value(tuple(map(float, able)), member.trainings)


def _among_printed(published: Published, member: Member, *classes: str) -> Value:
    raise Missing(NO_FIGURES)  # which bytes are rare


def _unargmaxable(run: Run, model: str) -> set[int]:
    """Return the bytes that no hidden state makes the most probable."""
    table = read_table(run.path("argmaxability", model), ["condition", "class", "argmaxable"]).to_pandas()
    free = table[table.condition == PUBLISHED_CONDITION]
    if free.argmaxable.isna().any():
        raise Missing(f"classes of {model} are undecided")
    return set(free.loc[~free.argmaxable.astype(bool), "class"])


UNARGMAXABLE = Source("unargmaxable", _of_run, _printed)  # their number
ARGMAXABLE = Source("argmaxable", _among, _among_printed)  # the number of these among given bytes

MARGINS = {
    "unargmaxable": Margin(
        "unargmaxable bytes (here of the root of their number, as counts scatter)",
        lambda run, member: [_of_run(run, member)],
    )
}

CLAIMS = [
    Claim(
        "low-ranks-cannot-predict-the-rarest",
        "4.3, Tables B.1 and B.2",
        "Ranks 4 and 8 could not make the rarest bytes the most probable, whatever the context.",
        "Number of the ten rarest bytes that are argmaxable in their heads, equal to 0; exact.",
        low_ranks_cannot_predict_the_rarest,
    ),
    Claim(
        "unargmaxable-bytes-fall",
        "B, Tables B.1 and B.2",
        "The number of bytes that a model can never predict falls with rank.",
        "Unargmaxable bytes at each rank less those at the next, as long as there are any; exact. At full rank "
        "there are none by construction, so there is no comparison.",
        unargmaxable_bytes_fall,
    ),
]
