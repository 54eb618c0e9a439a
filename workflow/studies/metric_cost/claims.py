"""The claim about cost (thesis, Table I.1)."""

import math

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, Value
from oversmoothing.claims.evidence import Evidence, Run, Source
from oversmoothing.claims.members import Member
from oversmoothing.claims.published import Published, cell
from oversmoothing.tables.record import read_record
from studies.metric_cost.timed import PUBLISHED_METHOD, TIMED

HUNDREDFOLD = 2.0  # in powers of ten


def tbat_costs_a_hundred_times_more(evidence: Evidence) -> list[Comparison]:
    """Compare the seconds of TBAT by linear programs, where they ran, with each other metric's, in powers of ten."""
    comparisons = []
    for member in evidence.family:
        seconds = evidence.value(SECONDS, member, "tbat").mean
        for metric in MAIN if not math.isnan(seconds) else ():
            ratio = math.log10(seconds / evidence.value(SECONDS, member, metric).mean)
            name = f"powers of ten from {TIMED[metric]} to TBAT, {member}"
            comparisons.append(Comparison(name, ratio, ratio, ratio, HUNDREDFOLD))
    if not comparisons:
        raise Missing("the published algorithm ran at no rank")
    return comparisons


def _of_run(run: Run, member: Member, metric: str) -> Value:
    table = read_record(run.path("tables", "metric_cost"))
    name = PUBLISHED_METHOD if metric == "tbat" else metric
    seconds = table.value[table.model.isin(member.models) & (table.measure == name)]
    return Value((float(seconds.mean()),))


def _printed(published: Published, member: Member, metric: str) -> Value:
    return cell(published.table("i_1").set_index(["model", "metric"])["mean"], member, metric)


MAIN = ("tto", "nsmd", "tv", "kl")
SECONDS = Source("cost", _of_run, _printed)  # of a metric per position; for TBAT, by one linear program per token

CLAIMS = [
    Claim(
        "tbat-costs-more",
        "I, Table I.1",
        "TBAT, computed as published, takes far longer than any other metric.",
        "Powers of ten between the mean times per position, above 2; at each rank up to `costs.highest_rank`.",
        tbat_costs_a_hundred_times_more,
    ),
]
