"""How much of the gradient of the logits reaches the trunk, along training, for each way of imposing a rank."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.models.logit_gradient import BATCH, NUMERICAL
from oversmoothing.tables.contrasts import means
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import Page, Section, pivot
from oversmoothing.tables.story import legend
from studies.along_training.table import along_training_table

SHARES = {
    "gradient_share": "share of the squared norm",
    "gradient_cosine": "cosine",
    "gradient_rank": "numerical rank",
}
KEYS = ["kind", "model", "rank", "seed"]
SETTLED = 64  # steps from which the mean along training is taken: before them the head is close to its random start


def gradient_table(
    measured: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]], unit: str = "byte"
) -> pd.DataFrame:
    """Return shares of the gradient and losses at all snapshots: rows of the table along training, but of all arms."""
    table = along_training_table([measured[model["model"]] for model in models], models, unit)
    return table[table.measure.isin([*SHARES, "loss"])].reset_index(drop=True)


def mean_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model: its facts, final ``loss`` and ``step``, and mean ``share`` from step `SETTLED` on.

    Snapshots are not evenly spaced; the mean is over steps, with straight lines between two of them.
    """
    rows = []
    for keys, model in table.groupby(KEYS, sort=False):
        share = model[model.measure == "gradient_share"].set_index("step").value.sort_index()
        loss = model[model.measure == "loss"].set_index("step").value.sort_index()
        late = share[share.index >= min(SETTLED, share.index[-1])]
        area = np.trapezoid(late, late.index) if len(late) > 1 else late.iloc[0]
        mean = float(area / max(late.index[-1] - late.index[0], 1))
        rows.append({**dict(zip(KEYS, keys, strict=True)), "loss": loss.iloc[-1], "share": mean})
    return pd.DataFrame(rows)


def gradient_page(table: pd.DataFrame, title: str) -> Page:
    """Page with a row per way and rank: means over seeds at the start, on the way and at the end."""
    last = table.groupby("model").step.transform("max")
    ends = table[(table.step == 0) | (table.step == last)]
    ends = ends.assign(when=np.where(ends.step == 0, "untrained", "trained"))
    whole = mean_shares(table).melt(KEYS, ["share", "loss"], var_name="measure").assign(when="")
    by_seed = pd.concat([ends, whole])
    by_seed = by_seed.assign(way=by_seed.kind.map(TITLES)).sort_values(["rank", "way"], kind="stable")
    columns = {f"{SHARES['gradient_share']}, untrained": {"measure": "gradient_share", "when": "untrained"}}
    columns |= {f"{name}, trained": {"measure": measure, "when": "trained"} for measure, name in SHARES.items()}
    columns |= {"share, mean": {"measure": "share"}, "loss (nats)": {"measure": "loss", "when": ""}}
    rows = pivot(means(by_seed[["rank", "way", "when", "measure", "seed", "value"]]), ["rank", "way"], columns)
    fixed = {"settled": SETTLED, "numerical": f"{NUMERICAL:.0%}", "batch": BATCH}
    return Page(title, [Section("", rows)], legend(__file__, "gradient", seeds=table.seed.nunique(), **fixed))
