"""Numbers of README.md beside those that pages share."""

from collections.abc import Mapping
from typing import Any

from oversmoothing.tables.record import read_record
from oversmoothing.tables.score_tables import for_terminal
from pages.kept import STUDIES, TRUTHS, kept, published, sentences, verdicts

level = kept("replication").across_seeds.over_windows().where(less=None, kind="family")
QUOTED = ("falls-up-to-32", "no-change-from-32-to-128", "slight-rise-at-512", "loss-correlates", "no-decoding-lifts")
and_not_tested = f", {verdicts['not tested here']} not tested" * bool(verdicts["not tested here"])
main_table = for_terminal(read_record(STUDIES / "default/tables/oversmoothing.csv"))  # as a finished run prints it


def _theirs(rank: int, truth: str) -> float:
    table = published.table_4_1.by("metric", "model", "truth")
    return table("tto", 512 if rank == 288 else rank, truth).value


beside_the_thesis = [
    (
        f"{rank} (thesis: 512)" if rank == 288 else rank,
        level("tto", rank, "truth"),
        _theirs(rank, "NanoGPT 300M"),
        level("tto", rank, "smollm2"),
        _theirs(rank, "EvaByte"),
    )
    for rank in (4, 8, 12, 16, 32, 128, 288)
]


def verdict_here(row: Mapping[str, Any], by_truth: Mapping[str, str]) -> str:
    """Return the verdict on a sentence of the thesis, with how many comparisons decide it or each truth's verdict."""
    verdict, contrasts = row["verdict"], int(row["contrasts"])
    if verdict == "depends on the truth":
        words = f"{by_truth['truth']} by the own, {by_truth['smollm2']} by SmolLM2"
    elif verdict == "open":
        towards = int(row["towards"])
        words = f"none of {contrasts} comparisons decided; "
        words += f"{towards} point to it" if towards else "all point the other way"
    else:
        against = int(row["decided_against"])
        words = f"{int(row['decided_for'])} of {contrasts} decided for" + (f", {against} against" if against else "")
    too = "; the thesis's own means, too, contradict it"
    return f"{verdict}: {words}" + (too if row["published_verdict"] == verdict == "contradicted" else "")


def _quoted(name: str) -> tuple[str, str]:
    (row,) = sentences.where(id=name, truth=None).frame.to_dict("records")
    by_truth = {truth: of[0] for truth in TRUTHS if (of := sentences.column("verdict", id=name, truth=truth))}
    return row["statement"], verdict_here(row, by_truth)


quoted_sentences = [_quoted(name) for name in QUOTED]
