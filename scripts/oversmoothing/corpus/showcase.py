"""Prompts that illustrate oversmoothing, as windows that score one byte or token: the correct continuation.

They pass through the same rules as all other windows, so distributions and metrics are computed in one place only.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from oversmoothing.corpus.windows import SCHEMA, TOKENS, read_windows, window_tokens
from oversmoothing.jobs import UserError

Tokens = Callable[[bytes], np.ndarray]  # of a text
NOWHERE = -1  # the offset of a prompt, which need not be from the corpus


def showcase_windows(prompts: Sequence[tuple[bytes, bytes]], tokens: Tokens | None = None) -> pa.Table:
    """Windows of prompts, each with what follows, with the schema of all windows and the offset -1.

    What follows is a byte or, with `tokens`, the function from a text to its tokens, the text of one token.
    """
    columns: list[Any] = [
        range(len(prompts)),
        [NOWHERE] * len(prompts),
        [prompt for prompt, _ in prompts],
        [following for _, following in prompts],
    ]
    schema = SCHEMA
    if tokens:
        schema = pa.schema([*SCHEMA, *TOKENS])
        columns += [[tokens(own) for own in part] for part in zip(*prompts, strict=True)]
        for (_, text), found in zip(prompts, columns[-1], strict=True):
            if len(found) != 1:
                raise UserError(
                    f"showcase: next: {text.decode()!r} has {len(found)} tokens; write one, or `prompt: null`"
                )
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema)


def read_prompts(path: str | Path) -> list[tuple[bytes, int]]:
    """Read each prompt and its correct next byte or token, in the order of the windows."""
    windows = read_windows(path)
    _, scored = window_tokens(windows)
    if any(len(own) != 1 for own in scored):
        raise UserError(f"{path}: a window of more than one scored byte, where prompts were expected; run again")
    return [(prompt, int(own[0])) for prompt, own in zip(windows["prompt"].to_pylist(), scored, strict=True)]
