"""Numbers and tables of docs/replication.md beside those that pages share."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from oversmoothing.tables.quantities import Table
from pages.kept import CHAPTERS, TRUTHS, benchmark, chance, kept, number_of_sentences, sentences

Row = Mapping[str, Any]  # of tables/claims

together = sentences.where(truth=None)  # one verdict of each sentence; the others are by one truth
claims_by_three_truths = kept("real_truth").claims  # of five seeds
number_that_cannot_fail = len(together.frame) - number_of_sentences
number_not_simulated = len(together.frame) - chance("sentences")


def verdict_with_counts(row: Row) -> str:
    """Return the verdict on a sentence and how many of its comparisons are decided for it, and against it."""
    if row["contrasts"] == 0 or row["verdict"] == "depends on the truth":
        return row["verdict"]
    against = row["verdict"] in ("contradicted", "holds in part")
    counts = f"{row['decided_for']:.0f}" + (f" for, {row['decided_against']:.0f} against," if against else "")
    return f"{row['verdict']} ({counts} of {row['contrasts']:.0f})"


def published_verdict(row: Row) -> str:
    """Return the verdict of the thesis's own means, and how many of its comparisons lie on the sentence's side."""
    towards, contrasts = row["published_towards"], row["published_contrasts"]
    return row["published_verdict"] + (f" ({towards:.0f} of {contrasts:.0f})" if contrasts > 0 else "")


def least_certain(row: Row) -> str:
    """Return the comparison that says least for a sentence, with its interval if it has one, or why there is none."""
    if math.isnan(row["effect"]):
        return row["note"]
    interval = "" if math.isnan(row["low"]) else f" [{row['low']:.3g}, {row['high']:.3g}]"
    return f"{row['weakest']}: {row['effect']:.3g}{interval}"


def _by_truth(sentence: str, truth: str, of: Table = sentences) -> str:
    found = of.where(id=sentence, truth=truth).frame.to_dict("records")
    return "".join(map(verdict_with_counts, found))


def sentence_row(row: Row) -> tuple[str, ...]:
    """Return the row of a sentence: what it says, how it is tested, verdicts, and the least certain comparison."""
    cannot_fail = row["cannot_fail"]
    why = f" Not counted, as it cannot fail: {cannot_fail}." if isinstance(cannot_fail, str) else ""
    return (
        f"{row['statement']} ({row['place']}){why}",
        row["test"],
        verdict_with_counts(row),
        *(_by_truth(row["id"], truth) for truth in TRUTHS),
        _by_truth(row["id"], "gemma", claims_by_three_truths),
        least_certain(row),
        published_verdict(row),
    )


sentences_by_chapter = {
    title: [sentence_row(row) for row in together.where(chapter=chapter).frame.to_dict("records")]
    for chapter, title in CHAPTERS.items()
    if len(together.where(chapter=chapter).frame)
}
_of_godey = kept("godey").claims.where(chapter="G", truth=None).frame.to_dict("records")
verdicts_of_godey = Counter(row["verdict"] for row in _of_godey)
sentences_of_godey = [
    (f"{row['statement']} ({row['place']})", row["test"], verdict_with_counts(row), least_certain(row))
    for row in _of_godey
]
wrong_by_chance = benchmark.null_verdicts("wrong", case="godey")
_law = [kept("godey").saturation(name, model=None) for name in ("A", "alpha", "B", "beta", "E")]
outside_their_intervals = sum(not number.low <= number <= number.high for number in _law)
