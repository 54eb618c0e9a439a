"""Loss and accuracy of any model over the evaluation windows, from its stored logits."""

from pathlib import Path

import numpy as np

from oversmoothing.statistics import WindowSums
from oversmoothing.store.parquet import read_groups, vectors


def predictions(logits: str | Path) -> dict[str, WindowSums]:
    """Sum by window how well a model predicts the scored bytes, streaming row group by row group.

    The losses of the family's trainings are of the validation split; these are of the bytes that are scored, and
    truncated heads have them too.

    Parameters
    ----------
    logits : path
        A logits file (see `oversmoothing.logits`).

    Returns
    -------
    dict
        ``loss``: minus the log-probability of the byte that stands there, in nats; ``accuracy``: 1 where that byte is
        the most probable one (ties go to the lowest), else 0.

    Raises
    ------
    UserError
        As `read_groups`.
    """
    sums = {"loss": WindowSums(), "accuracy": WindowSums()}
    for group in read_groups(logits, ["window", "target", "logits"]):
        windows, targets = group["window"].to_numpy(), group["target"].to_numpy()
        own = vectors(group["logits"]).astype(np.float64)
        own -= own.max(axis=1, keepdims=True)
        losses = np.log(np.exp(own).sum(axis=1)) - own[np.arange(len(targets)), targets]
        sums["loss"].add(windows, losses)
        sums["accuracy"].add(windows, (own.argmax(axis=1) == targets).astype(np.float64))
    return sums
