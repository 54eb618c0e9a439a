"""Which metrics see the mass on impossible bytes: their rank correlation with it over positions."""

from collections.abc import Mapping

import pandas as pd

OF_POSITION = ["window", "position"]
IMPOSSIBLE = "impossible"


def correlations(masses: pd.DataFrame, metrics: Mapping[str, pd.DataFrame]) -> dict[str, float]:
    """Spearman's rank correlation of each metric with the mass on impossible bytes.

    Parameters
    ----------
    masses : DataFrame
        ``window``, ``position`` and ``impossible``.
    metrics : mapping of name to DataFrame
        ``window``, ``position`` and a column of the metric's name; other positions are left out.

    Returns
    -------
    dict
        By metric; NaN of one that is the same everywhere, as TBAT of a full-rank head.
    """
    joined = masses[[*OF_POSITION, IMPOSSIBLE]]
    for name, values in metrics.items():
        joined = joined.merge(values[[*OF_POSITION, name]], on=OF_POSITION)
    ranks = joined.rank()
    return {name: float(ranks[name].corr(ranks[IMPOSSIBLE])) if ranks[name].std() else float("nan") for name in metrics}
