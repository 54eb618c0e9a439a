"""What the ladder says, in sentences: where a rank's cost goes as models grow, and whether the law predicted it."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import selected
from oversmoothing.tables.record import chosen
from studies.forced_part.added import FORCED as FORCED_SHARE
from studies.forced_part.added import LESS
from studies.size_ladder.outcomes import CAME, counted, inside
from studies.size_ladder.predict import LAW


def shares_by_size(table: pd.DataFrame) -> Iterator[str]:
    """Yield, for each truth and rank, the share that heads force at the least and most compute with several seeds."""
    shares = selected(table, measure=FORCED_SHARE, less=LESS).dropna(subset="low_crossed")
    for (truth, rank), own in shares.groupby(["truth", "rank"], sort=False):
        ordered = own.assign(compute=own.weights.astype(float) * own.bytes.astype(float)).sort_values("compute")
        least, most = ordered.iloc[0], ordered.iloc[-1]
        if most.high_crossed < least.low_crossed:
            verdict = "less"
        elif most.low_crossed > least.high_crossed:
            verdict = "more"
        else:
            verdict = "no share that can be told from it"
        yield (
            f"Against {truth}, of the KL that rank {rank} adds its head forces {_share(least)} at "
            f"{least.weights / 1e6:.2f} million weights and {least.bytes / 1e6:.1f} MB of text, and {_share(most)} at "
            f"{most.weights / 1e6:.2f} and {most.bytes / 1e6:.1f}: {verdict}."
        )


def hits(table: pd.DataFrame) -> Iterator[str]:
    """Yield for each place how many predictions of loss, TTO and KL hold what came."""
    for place, own in table[(table.arm != LAW).fillna(False)].groupby("arm", sort=False):
        verdicts = []
        for row in own[[counted(str(place), name) for name in own.measure]].to_dict("records"):
            truth = None if pd.isna(row["truth"]) else row["truth"]
            came = chosen(own, measure=row["measure"] + CAME, rank=row["rank"], truth=truth)
            verdicts += [inside(row, value) for value in came.value]
        told = [verdict for verdict in verdicts if verdict != "-"]
        if told:
            yield (
                f"Of {place}, {told.count('yes')} of {len(told)} predictions of loss, TTO and KL hold what came in "
                "their 95 % interval."
            )


def _share(row: pd.Series) -> str:
    interval = "" if pd.isna(row.low_crossed) else f" [{row.low_crossed:.2f}, {row.high_crossed:.2f}]"
    return f"{row.value:.2f}{interval}"
