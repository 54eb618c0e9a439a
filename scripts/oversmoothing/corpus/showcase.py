"""Prompts that illustrate oversmoothing, as windows that score one byte: the correct continuation.

They pass through the same rules as all other windows, so distributions and metrics are computed in one place only.
"""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from oversmoothing.corpus.windows import SCHEMA
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table

NOWHERE = -1  # the offset of a prompt, which need not be from the corpus


def showcase_windows(prompts: Sequence[tuple[bytes, bytes]]) -> pa.Table:
    """Windows of prompts, each with the byte that follows, with the schema of all windows and the offset -1."""
    columns = [
        range(len(prompts)),
        [NOWHERE] * len(prompts),
        [prompt for prompt, _ in prompts],
        [following for _, following in prompts],
    ]
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], SCHEMA)


def read_prompts(path: str | Path) -> list[tuple[bytes, int]]:
    """Read each prompt and its correct next byte, in the order of the windows."""
    rows = read_table(path, ["prompt", "scored"]).to_pylist()
    if any(len(row["scored"]) != 1 for row in rows):
        raise UserError(f"{path}: a window of more than one scored byte, where prompts were expected; run again")
    return [(row["prompt"], row["scored"][0]) for row in rows]
