"""What the head forces, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import amount, mean_within, selected
from studies.real_head.names import ALL


def answer(table: pd.DataFrame) -> Iterator[str]:
    """Yield, for each text, what the head, and the norm with it, forces of the KL from the best mixture."""
    for text in table.text.dropna().unique():
        rows = selected(table, text=text, truth=ALL, rank=None)
        share, kl = (mean_within(rows[rows.measure == measure]) for measure in ("share", "kl"))
        yield (
            f"On the text {text} the model is {amount(kl)} nats a token from the mixture of all memories, and its head "
            f"forces a share of {amount(share)}."
        )
        head, both = (rows[rows.measure == measure] for measure in ("norm_head", "norm_forced"))
        if len(both):
            yield (
                f"At {both.n.iloc[0]} of its positions the head forces {amount(mean_within(head))} nats and the norm "
                f"before it, which fixes a length, makes that {amount(mean_within(both))} at most."
            )
