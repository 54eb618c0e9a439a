"""Prompts as windows that score one byte or token: the correct continuation.

They pass through the same rules as all other windows, so distributions and metrics are computed in one place only.
"""

from collections.abc import Sequence
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

NOWHERE = -1  # the offset of a prompt, which need not be from the corpus


def main(job: Job) -> None:
    """Write one window for each prompt in `params.settings`; a prompt that is null is chosen by rule."""
    settings, tokenizer, vocabulary = job.params.settings, job.input.tokenizer, read_vocabulary(job.input.vocabulary)
    encode = partial(encode_bytes, load_tokenizer(tokenizer), vocabulary) if tokenizer else _of_bytes
    prompts, tokens = [], []
    for entry in settings["prompts"]:
        if entry["prompt"] is None:  # its tokens are known, and the text of one may not be that of a token alone
            parts = typical_prompt(job.input.windows, job.input.truth, job.input.family, vocabulary.decode)
            texts = [vocabulary.decode(part.tolist()) for part in parts]
        else:
            texts = [entry["prompt"].encode(), entry["next"].encode()]
            parts = encode(texts[0]), encode(texts[1])
            if len(parts[1]) != 1:
                raise UserError(
                    f"showcase: next: {entry['next']!r} has {len(parts[1])} tokens; write one, or `prompt: null`"
                )
        prompts.append((texts[0], texts[1]))
        tokens.append(parts)
    write_table(job.output[0], showcase_windows(prompts, tokens if tokenizer else None), provenance(settings))


def showcase_windows(
    prompts: Sequence[tuple[bytes, bytes]], tokens: Sequence[tuple[np.ndarray, np.ndarray]] | None = None
) -> pa.Table:
    """Windows of prompts, each with what follows, with the schema of all windows and the offset -1.

    What follows is a byte or, with `tokens`, those of each prompt and what follows, one token.
    """
    columns: list[Any] = [
        range(len(prompts)),
        [NOWHERE] * len(prompts),
        [prompt for prompt, _ in prompts],
        [following for _, following in prompts],
    ]
    schema = SCHEMA
    if tokens is not None:
        schema = pa.schema([*SCHEMA, *TOKENS])
        columns += zip(*tokens, strict=True)
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema)


def read_prompts(path: str | Path) -> list[tuple[bytes, int]]:
    """Read each prompt and its correct next byte or token, in the order of the windows."""
    windows = read_windows(path)
    _, scored = window_tokens(windows)
    if any(len(tokens) != 1 for tokens in scored):
        raise UserError(f"{path}: a window of more than one scored byte, where prompts were expected; run again")
    return [(prompt, int(tokens[0])) for prompt, tokens in zip(windows["prompt"].to_pylist(), scored, strict=True)]


def _of_bytes(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


if __name__ == "__main__":
    run(main)
