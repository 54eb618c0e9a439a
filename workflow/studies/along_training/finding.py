"""How far apart models of equal loss and different rank are in what they leak, in numbers of this run."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at
from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.store.layout import number
from oversmoothing.tables.published import listed
from studies.along_training.table import steps

UNTOLD = "Oversmoothing against loss along training"


def at_equal_loss(table: pd.DataFrame) -> pd.DataFrame:
    """Return TTO of each model at every kept step, and of the highest rank of its seed where that has the same loss.

    Columns ``model``, ``rank``, ``truth``, ``step``, ``loss``, ``tto`` and ``highest``, on a straight line between two
    kept steps. Steps whose loss the highest rank never has are left out.
    """
    models = table[["model", "rank", "seed"]].drop_duplicates()
    highest = models[models["rank"] == models["rank"].max()].drop_duplicates("seed").set_index("seed").model
    rows = []
    for truth in table.truth.dropna().unique():
        for model, rank, seed in models[~models.model.isin(highest)].itertuples(index=False):
            beside = steps(table, highest[seed], truth)
            for step, loss, tto in steps(table, model, truth)[["loss", "tto"]].itertuples():
                same = at_loss(beside["loss"].tolist(), beside["tto"].tolist(), loss)
                rows.append((model, int(rank), truth, step, loss, tto, same))
    columns = ["model", "rank", "truth", "step", "loss", "tto", "highest"]
    return pd.DataFrame(rows, columns=columns).dropna(subset="highest")


def finding(table: pd.DataFrame) -> str:
    """State within which distance the ranks leak as the highest one at equal loss, over all seeds, truths and steps."""
    compared = at_equal_loss(table)
    if compared.empty:
        return UNTOLD
    ranks = at(sorted(compared["rank"].unique().tolist())).removeprefix("at ")
    apart = (compared.tto - compared.highest).abs().max()
    tto = table[(table["rank"] == table["rank"].max()) & (table.measure == "tto")]
    goes = []
    for truth, own in tto.groupby("truth", sort=False):
        first, last = (number(own.value[own.step == step].mean()) for step in (own.step.min(), own.step.max()))
        goes.append(f"from {first} to {last} in training{_against(truth, tto)}")
    return (
        f"At equal loss the TTO of {ranks} is within {number(apart)} of that of rank {table['rank'].max()}, which goes "
        f"{listed(goes)}"
    )


def opening(table: pd.DataFrame) -> Iterator[str]:
    """Yield the finding, and the numbers where the lowest rank ends, means over seeds, with their limits."""
    yield f"TTO is the probability that leaks outside the truth's nucleus. {finding(table)}."
    compared = at_equal_loss(table)
    ends = compared[compared.step == table.step.max()]
    ends = ends[ends["rank"] == ends["rank"].min()]
    highest = table["rank"].max()
    for truth, of_truth in ends.groupby("truth", sort=False):
        lowest = of_truth.mean(numeric_only=True)
        yield (
            f"Where rank {lowest['rank']:.0f} ends, at a loss of {number(lowest.loss)}, its TTO is "
            f"{number(lowest.tto)}{_against(truth, ends)}; that of rank {highest} is {number(lowest.highest)} where it "
            f"passes this loss. These numbers have no intervals, and rank {highest} is then in the middle of its "
            "training."
        )


def _against(truth: object, rows: pd.DataFrame) -> str:
    """Name the truth, where there are several."""
    return f" against {truth}" if rows.truth.nunique() > 1 else ""
