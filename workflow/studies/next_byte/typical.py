"""A prompt from the evaluation text on which the truth is sure, chosen by rule rather than by eye."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from oversmoothing.data.byte_names import Decode
from oversmoothing.data.windows import read_windows, window_tokens
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.scores.probabilities import softmax

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
    turns tokens into their text. Returned are the tokens of the window before the byte, and the one of the byte, int64
    (n,) and (1,). A `UserError` is raised if a file is missing or damaged.
    """
    table = read_windows(windows)
    texts = [_parts(table, window, decode) for window in range(len(table))]
    every = [(window, i) for window, (_, scored) in enumerate(texts) for i in range(min(REACH, len(scored)))]
    inside = [
        (window, i)
        for window, i in every
        if _in_word(b"".join([texts[window][0], *texts[window][1][:i]]), texts[window][1][i])
    ] or every
    places = tuple(np.array(inside).T)
    sure = _of_following(truth, len(texts))[places]
    candidates = sure >= min(SURE, sure.max())
    of_models = np.array([_of_following(path, len(texts))[places][candidates] for path in family])
    distance = ((of_models - of_models.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)
    window, position = np.array(inside)[candidates][distance.argmin()]
    (prompt,), (scored,) = window_tokens(table.slice(window, 1))
    return np.concatenate([prompt, scored[:position]]), scored[position : position + 1]


def _parts(windows: pa.Table, window: int, decode: Decode) -> tuple[bytes, list[bytes]]:
    """Text of a window's prompt, and of each of its scored bytes or tokens."""
    (prompt,), (scored,) = window_tokens(windows.slice(window, 1))
    return decode(prompt.tolist()), [decode([token]) for token in scored.tolist()]


def _in_word(before: bytes, text: bytes) -> bool:
    """Whether a byte or a token, and the byte before it, are ASCII letters."""
    return before[-1:].isalpha() and text.isalpha()


def _of_following(logits: str | Path, windows: int) -> np.ndarray:
    """Probability of each window's first scored bytes, shape (windows, `REACH`)."""
    following = np.zeros((windows, REACH))
    for group, of_group in logit_groups(logits):
        window, position, target = (group[name].to_numpy() for name in ("window", "position", "target"))
        p = softmax(of_group)[np.arange(len(target)), target]
        early = position < REACH
        following[window[early], position[early]] = p[early]
    return following
