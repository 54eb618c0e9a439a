"""The chapter of the story page."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_ends, at_lowest
from oversmoothing.claims.story.chapters import Chapter
from studies.imposed_rank.chapter import WAYS


def passed(table: pd.DataFrame) -> Iterator[str]:
    """Yield the share of the gradient that a head lets through, at the last step."""
    sentence = (
        "The share of the squared gradient of the logits that passes the head at the end of training is, without an "
        "interval, {}."
    )
    last = table[table.step == table.step.max()]
    return at_ends(sentence, measure="gradient_share", kind="family")(last)


CHAPTER = Chapter(
    "Expressivity or optimisation",
    (
        "A head of low rank limits what can be expressed, and it limits the gradient from which the rest of the "
        "model learns. Both count, say Godey and Artzi (2026); Murugan (2026) doubts the second. With several "
        "seeds and arms (`config/gradient.yaml`), `paired_ranks` says what a rank costs on the gradient alone, on "
        "the logits alone and on both; the costs need not add up.",
        "A head can also be exchanged on a frozen trunk. A trunk behind a narrow head has no reason to compute what "
        "that head cannot say. Behind a full head with a gradient of lower rank it has the reason and little of the "
        "gradient. `closed_square` says what a full and a narrow head lose on each of these trunks.",
    ),
    answers={
        "paired_ranks": at_lowest(
            "{at} the loss above that of the full head with the same seed, in nats, is {}.",
            "kind",
            WAYS,
            difference=True,
            measure="loss",
        ),
        "gradient": passed,
    },
    tables=("paired_ranks", "closed_square", "gradient_claims", "gradient"),
    figures=("paired_ranks", "closed_square", "gradient"),
)
