"""A prompt from the evaluation text on which the truth is sure, chosen by rule rather than by eye."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oversmoothing.jobs import UserError
from oversmoothing.logit_files import logit_groups
from oversmoothing.metrics import softmax
from oversmoothing.store.parquet import read_table

SURE = 0.9  # probability that the truth gives the byte that follows
REACH = 40  # scored bytes of each window that are considered, so that prompts fit into a figure's title


def typical_prompt(windows: str | Path, truth: str | Path, family: Sequence[str | Path]) -> tuple[bytes, bytes]:
    """Choose a prompt on which the truth is sure and each model of the family does as it does on average.

    Candidates are the bytes, inside words, of which the truth is sure (`SURE`); if it is sure of none, the one of which
    it is surest. Of these is chosen the one to which the models give probabilities closest to their means over all
    candidates (least sum of squared differences).

    Parameters
    ----------
    windows : path
        The windows; of each, the first `REACH` scored bytes are considered.
    truth, family : paths
        Logits of the windows, by the truth and by each model.

    Returns
    -------
    prompt, following : bytes
        All of the window before the byte, and the byte.

    Raises
    ------
    UserError
        If there is no byte inside a word, or a file is missing or damaged.
    """
    texts = read_table(windows, ["prompt", "scored"]).to_pylist()
    inside = [
        (window, position)
        for window, text in enumerate(texts)
        for position in range(min(REACH, len(text["scored"])))
        if _in_word(text["prompt"] + text["scored"], len(text["prompt"]) + position)
    ]
    if not inside:
        raise UserError(f"{windows}: no byte inside a word to show; write prompts of your own into `showcase`")
    places = tuple(np.array(inside).T)
    sure = _of_following(truth, len(texts))[places]
    candidates = sure >= min(SURE, sure.max())
    of_models = np.array([_of_following(path, len(texts))[places][candidates] for path in family])
    distance = ((of_models - of_models.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)
    window, position = np.array(inside)[candidates][distance.argmin()]
    prompt, scored = texts[window]["prompt"], texts[window]["scored"]
    return prompt + scored[:position], scored[position : position + 1]


def _in_word(text: bytes, place: int) -> bool:
    """Whether the byte and the one before it are ASCII letters."""
    return text[place - 1 : place + 1].isalpha()


def _of_following(logits: str | Path, windows: int) -> np.ndarray:
    """Probability of each window's first scored bytes, shape (windows, `REACH`)."""
    found = np.zeros((windows, REACH))
    for group, own in logit_groups(logits):
        window, position, target = (group[name].to_numpy() for name in ("window", "position", "target"))
        p = softmax(own)[np.arange(len(target)), target]
        early = position < REACH
        found[window[early], position[early]] = p[early]
    return found
