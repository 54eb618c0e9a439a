"""Prompts as windows that score one byte or token: the correct continuation.

They pass through the same rules as all other windows, so distributions and metrics are computed in one place only.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from oversmoothing.data.byte_names import Decode
from oversmoothing.data.tokens.text import encode_bytes
from oversmoothing.data.tokens.vocabulary import byte_tokenizer, load_tokenizer, read_vocabulary
from oversmoothing.data.windows import SCHEMA, TOKENS, read_windows, window_tokens
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

NOWHERE = -1  # the offset of a prompt, which need not be from the corpus


def main(job: Job) -> None:
    """Write one window for each prompt in `params.settings`; a prompt that is null is chosen by rule."""
    settings, tokenizer, vocabulary = job.params.settings, job.input.tokenizer, read_vocabulary(job.input.vocabulary)
    encode = partial(encode_bytes, load_tokenizer(tokenizer) if tokenizer else byte_tokenizer(), vocabulary)
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
    """Return windows of prompts, each with what follows, with the schema of all windows and the offset -1.

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


SURE = 0.9  # probability that the truth gives the byte that follows
REACH = 40  # scored bytes of each window that are considered, so that prompts fit into a figure's title


def typical_prompt(
    windows: str | Path, truth: str | Path, family: Sequence[str | Path], decode: Decode = bytes
) -> tuple[np.ndarray, np.ndarray]:
    """Choose a prompt on which the truth is sure and each model of the family does as it does on average.

    Candidates are the bytes, inside words, of which the truth is sure (`SURE`); if it is sure of none, the one of which
    it is surest. A text without words in ASCII, or too few windows to show one, has candidates anywhere. Of these is
    chosen the one to which the models give probabilities closest to their means over all candidates (least sum of
    squared differences).

    Of each window the first `REACH` scored bytes are considered; `truth` and `family` are files of its logits; `decode`
    turns tokens into their text. Returned are the tokens before the byte, and the one of the byte, int64 (n,) and (1,).
    """
    prompts, scored = window_tokens(read_windows(windows))
    every, inside = [], []  # places, and those inside words
    for window, (prompt, following) in enumerate(zip(prompts, scored, strict=True)):
        before = decode(prompt.tolist())
        for i, token in enumerate(following[:REACH].tolist()):
            every.append((window, i))
            if before[-1:].isalpha() and decode([token]).isalpha():
                inside.append((window, i))
            before += decode([token])
    tried = np.array(inside or every)
    places = tuple(tried.T)
    sure = _of_following(truth, len(prompts))[places]
    candidates = sure >= min(SURE, sure.max())
    of_models = np.array([_of_following(path, len(prompts))[places][candidates] for path in family])
    distance = ((of_models - of_models.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)
    window, position = tried[candidates][distance.argmin()]
    return np.concatenate([prompts[window], scored[window][:position]]), scored[window][position : position + 1]


def _of_following(logits: str | Path, windows: int) -> np.ndarray:
    """Return the probability of each window's first scored bytes, shape (windows, `REACH`)."""
    following = np.zeros((windows, REACH))
    for group, of_group in logit_groups(logits):
        window, position, target = (group[name].to_numpy() for name in ("window", "position", "target"))
        p = softmax(of_group)[np.arange(len(target)), target]
        early = position < REACH
        following[window[early], position[early]] = p[early]
    return following


if __name__ == "__main__":
    run(main)
