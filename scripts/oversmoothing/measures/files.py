"""Files of a model as measures see them, its windows beside truths and its hidden states; and of measures."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import UserError
from oversmoothing.measures.window import Window
from oversmoothing.models.logit_files import POSITION, read_logits
from oversmoothing.store.parquet import open_reader, open_writer, read_groups, vectors

if TYPE_CHECKING:
    from oversmoothing.models.heads import ModelHead

ROWS = 1 << 17  # of a row group, at least


def count_windows(logits: str | Path) -> int:
    """Return how many windows a file of logits has."""
    with open_reader(logits) as reader:
        return int(reader.num_row_groups)


def read_windows(
    logits: str | Path,
    truths: Mapping[str, str | Path],
    head: "ModelHead | None" = None,
    hidden: str | Path | None = None,
) -> Iterator[tuple[int, dict[str | None, Window]]]:
    """Yield the number of each window, and the window by the truth beside it; by None, if there are no truths.

    Errors are those of `read_logits`; a `UserError` also says if the hidden states are of other windows.
    """
    count = count_windows(logits)
    both = zip(read_logits(logits, truths), read_groups(logits, POSITION), strict=True)
    states = read_groups(hidden, [*POSITION, "post"]) if hidden else None
    for i, (window, keys) in enumerate(both):
        post = None
        if states is not None:
            state = next(states, None)
            if state is None or any(not state[key].equals(keys[key]) for key in POSITION):
                raise UserError(f"{hidden}: other windows than {logits}; delete both and run again")
            post = vectors(state["post"])
        targets = keys["target"].to_numpy()
        beside: list[tuple[str | None, np.ndarray | None]] = [*window.truths.items()] or [(None, None)]
        seen = {
            truth: Window(i, count, window.model, targets, of_truth, head, hidden=post) for truth, of_truth in beside
        }
        yield window.window, seen


def read_hidden(path: str | Path) -> np.ndarray:
    """Return what enters the head at every stored position, float32 (n, r)."""
    return np.concatenate([vectors(group["post"]) for group in read_groups(path, ["post"])])


def write_tables(path: str | Path, tables: Iterable[pa.Table], provenance: Mapping[str, str]) -> None:
    """Write tables of one schema one after another, in row groups of at least `ROWS` rows but for the last."""
    following = iter(tables)
    waiting = [next(following)]
    with open_writer(path, waiting[0].schema, provenance) as writer:

        def flush() -> None:
            writer.write_table(pa.concat_tables(waiting).unify_dictionaries(), row_group_size=2 * ROWS)
            waiting.clear()

        for table in following:
            if sum(map(len, waiting)) >= ROWS:
                flush()
            waiting.append(table)
        flush()
