"""Claims about single bytes (thesis 4.3, Figures 4.2 and 4.3)."""

from functools import cache

from oversmoothing.claims.choose import each, frequent_bytes, lowest_and_best, rarest_bytes
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, Value
from oversmoothing.claims.evidence import Evidence, Run, Source
from oversmoothing.claims.members import Member
from oversmoothing.claims.published import NO_FIGURES, Published
from oversmoothing.numerics.statistics import merge
from studies.byte_by_byte.compared import Sums, read_sums_of, share_higher

NEARLY_ALL = 0.9  # of the bytes


def rare_bytes_are_oversmoothed_more(evidence: Evidence) -> list[Comparison]:
    """Compare the NSMD at the ten rarest bytes with that at the ten most frequent, in the two models of Figure 4.2."""
    comparisons = []
    for member in lowest_and_best(evidence):
        rare, frequent = (_at(evidence, member, ends(evidence)) for ends in (rarest_bytes, frequent_bytes))
        comparisons.append(evidence.compare(rare, frequent, f"NSMD, rarest against most frequent bytes, {member}"))
    return comparisons


def lowest_rank_is_worse_at_nearly_every_byte(evidence: Evidence) -> list[Comparison]:
    """Test the share of bytes at which the lowest rank has a higher mean NSMD than the best model, seed by seed."""
    lowest, best = lowest_and_best(evidence)
    comparisons = []
    for a, b in zip(lowest.alone(), best.alone(), strict=True):
        ours, theirs, chance = evidence.value(SUMS, a).nsmd, evidence.value(SUMS, b).nsmd, evidence.chance
        if chance is None:
            raise Missing("no chance is known")
        share, low, high = share_higher(ours, theirs, chance.run_to_run["nsmd"], chance.resamples, chance.seed)
        name = f"share of {len(ours)} bytes, {a} against {b}"
        comparisons.append(Comparison(name, share, low, high, NEARLY_ALL, n=len(ours)))
    return comparisons


def lowest_rank_never_predicts_the_rarest(evidence: Evidence) -> list[Comparison]:
    """Count how often the lowest rank predicts one of the ten rarest bytes."""
    comparisons = []
    for model in each(evidence.family[:1]):
        argmaxes, rarest = evidence.value(SUMS, model).argmaxes, rarest_bytes(evidence)
        times = float(sum(argmaxes.get(byte, 0) for byte in rarest))
        name = f"times that {model} predicts one of the {len(rarest)} rarest bytes"
        comparisons.append(Comparison(name, times, times, times, n=sum(argmaxes.values()), exactly=True))
    if not comparisons:
        raise Missing("no model of the family has a rank")
    return comparisons


def _at(evidence: Evidence, member: Member, bytes_: list[int]) -> Value:
    """Return the mean NSMD where one of these bytes comes next."""
    of_models = [evidence.value(SUMS, model) for model in member.alone()]
    sums = tuple(merge(of_model.nsmd[byte] for byte in bytes_) for of_model in of_models)
    return Value(tuple(x.mean for x in sums), member.trainings, "nsmd", sums, repeats=of_models[0].truths)


def _of_run(run: Run, member: Member) -> Sums:
    """Return the sums of the first training of a member."""
    return _read(run.path("bytes", member.models[0]))


def _printed(published: Published, member: Member) -> Sums:
    raise Missing(NO_FIGURES)


_read = cache(read_sums_of)
SUMS = Source("bytes", _of_run, _printed)

CLAIMS = [
    Claim(
        "rare-bytes-oversmoothed-more",
        "4.3, Figure 4.2",
        "The lowest rank and the best model both oversmooth more where a rare byte comes next than where a frequent "
        "one does.",
        "NSMD at the ten rarest bytes less NSMD at the ten most frequent, in either model; paired by window.",
        rare_bytes_are_oversmoothed_more,
    ),
    Claim(
        "lowest-rank-worse-at-every-byte",
        "4.3, Figure 4.2",
        "The lowest rank oversmooths more than the best model at nearly every byte.",
        "Share of bytes with the higher mean NSMD at the lowest rank, above nine in ten; bootstrap over windows.",
        lowest_rank_is_worse_at_nearly_every_byte,
    ),
    Claim(
        "lowest-rank-never-predicts-the-rarest",
        "4.3, Figure 4.3",
        "The lowest rank never makes one of the ten rarest bytes the most probable.",
        "Number of positions at which it does, equal to 0.",
        lowest_rank_never_predicts_the_rarest,
    ),
]
