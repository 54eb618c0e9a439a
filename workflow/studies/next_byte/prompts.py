"""Prompts as windows that score one byte or token: the correct continuation.

They pass through the same rules as all other windows, so distributions and metrics are computed in one place only.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from oversmoothing.data.tokens.text import encode_bytes
from oversmoothing.data.tokens.vocabulary import load_tokenizer, read_vocabulary
from oversmoothing.data.windows import SCHEMA, TOKENS, read_windows, window_tokens
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.next_byte.typical import typical_prompt

Tokens = Callable[[bytes], np.ndarray]  # of a text
NOWHERE = -1  # the offset of a prompt, which need not be from the corpus


def main(job: Job) -> None:
    """Write one window for each prompt in `params.settings`; a prompt that is null is chosen by rule."""
    settings, tokenizer, vocabulary = job.params.settings, job.input.tokenizer, read_vocabulary(job.input.vocabulary)
    tokens = partial(encode_bytes, load_tokenizer(tokenizer), vocabulary) if tokenizer else None
    prompts = [
        (entry["prompt"].encode(), entry["next"].encode())
        if entry["prompt"] is not None
        else typical_prompt(job.input.windows, job.input.truth, job.input.family, vocabulary.decode)
        for entry in settings["prompts"]
    ]
    write_table(job.output[0], showcase_windows(prompts, tokens), provenance(settings))


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
        columns += [[tokens(text) for text in part] for part in zip(*prompts, strict=True)]
        for (_, text), following in zip(prompts, columns[-1], strict=True):
            if len(following) != 1:
                raise UserError(
                    f"showcase: next: {text.decode()!r} has {len(following)} tokens; write one, or `prompt: null`"
                )
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema)


def read_prompts(path: str | Path) -> list[tuple[bytes, int]]:
    """Read each prompt and its correct next byte or token, in the order of the windows."""
    windows = read_windows(path)
    _, scored = window_tokens(windows)
    if any(len(tokens) != 1 for tokens in scored):
        raise UserError(f"{path}: a window of more than one scored byte, where prompts were expected; run again")
    return [(prompt, int(tokens[0])) for prompt, tokens in zip(windows["prompt"].to_pylist(), scored, strict=True)]


if __name__ == "__main__":
    run(main)
