"""Documents of a text as a model reads them: tokens, what enters its head, and their file."""

import numpy as np
import pyarrow as pa

from oversmoothing.store.parquet import read_table, vector_type, vectors
from studies.real_head.memories import Passage

NOTHING_FOLLOWS = -1  # in the place of a token before the first of joined documents


def schema(width: int) -> pa.Schema:
    """Return the columns of ``real_head/states/{text}.parquet``: a row for each token that is read."""
    states = [("state", vector_type(width)), ("short_state", vector_type(width))]
    return pa.schema([("document", pa.int32()), ("position", pa.int32()), ("token", pa.int32()), *states])


class Documents:
    """The documents of such a file, those that choose the truths (`chosen_with`) and those that judge (`held_out`)."""

    def __init__(self, path: str) -> None:
        table = read_table(path).combine_chunks()
        self._of = table["document"].to_numpy()
        self._tokens = table["token"].to_numpy()
        self._states = {name: vectors(table[name].chunk(0)) for name in ("state", "short_state")}
        numbers: list[int] = np.unique(self._of).tolist()
        self.held_out, self.chosen_with = numbers[::2], numbers[1::2]

    def passage(self, document: int, column: str = "state") -> Passage:
        """Return a document, with what enters the head after all tokens before (`state`), or a few (`short_state`)."""
        rows = np.flatnonzero(self._of == document)
        return Passage(self._tokens[rows].astype(np.int64), self._states[column][rows[:-1]])

    def others(self, document: int) -> Passage:
        """Return the documents that choose the truths, but for this one, as one passage to look up states in."""
        passages = [self.passage(other) for other in self.chosen_with if other != document]
        followed = np.concatenate([own.next for own in passages])
        return Passage(np.concatenate([[NOTHING_FOLLOWS], followed]), np.concatenate([own.states for own in passages]))

    def after(self, document: int) -> int:
        """Return the document after one that is held out, or the first after the last."""
        return self.held_out[(self.held_out.index(document) + 1) % len(self.held_out)]
