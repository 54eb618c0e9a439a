"""Whether trunks behind narrow heads learn as fast as full trunks of equal loss, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import selected
from studies.narrow_trunk.parts import LOSS
from studies.narrow_trunk.table import PARTS, STAYS, STOPPED


def absence(table: pd.DataFrame) -> Iterator[str]:
    """Yield, for each trunk and part, the share of its cost that stays and its loss less that at equal loss."""
    last = int(table.step.max())
    for _, row in selected(table, measure=LOSS, less=STOPPED, step=last).iterrows():
        stays = selected(table, measure=LOSS + STAYS, arm=row.arm, part=row.part, step=last)
        low, high = (row.low_crossed, row.high_crossed)
        verdict = "better than" if high < 0 else "worse than" if low > 0 else "not told from"
        yield (
            f"The trunk of {row.arm}, {PARTS[row.part]} for {last} steps: {verdict} a full trunk of equal loss, "
            f"{row.value:+.3f} [{low:+.3f}, {high:+.3f}] nats"
            + (f"; {100 * stays.value.iloc[0]:.0f} % of its cost stays." if len(stays) else ".")
        )
