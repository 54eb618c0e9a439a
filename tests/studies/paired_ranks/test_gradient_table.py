"""Shares of the gradient along training: the table, its means, and the figures that people look at."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from step_jobs import job, outputs

from oversmoothing.store.parquet import write_table
from oversmoothing.tables.record import read_record
from studies.paired_ranks import gradient
from studies.paired_ranks.gradient import SETTLED, gradient_table, mean_shares

STEPS = (0, 1, 32, 64, 128, 256)
MODELS = [
    {"model": f"{name}-s{seed}", "kind": kind, "rank": rank, "seed": seed}
    for name, kind, rank in (("w32", "family", 32), ("pl4", "plain", 4), ("bw4", "backward", 4))
    for seed in (1, 2)
]


def measured(model):
    """Snapshots whose share falls with the logarithm of the step, and is the higher, the higher the rank."""
    rows = []
    for i, step in enumerate(STEPS):
        share = (0.9 - 0.1 * i) * model["rank"] / 32 + 0.001 * model["seed"]
        values = {"gradient_share": share, "gradient_cosine": share**0.5, "gradient_rank": 40 - i, "loss": 5 - 0.5 * i}
        rows += [{"step": step, "measure": name, "truth": None, "value": v, "n": 100} for name, v in values.items()]
        rows.append({"step": step, "measure": "tto", "truth": "truth", "value": 0.1, "n": 100})
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def table():
    return gradient_table({model["model"]: measured(model) for model in MODELS}, MODELS)


def test_the_mean_share_is_over_steps_and_not_over_snapshots(table):
    assert set(table.measure) == {"gradient_share", "gradient_cosine", "gradient_rank", "loss"}
    own = mean_shares(table).set_index("model").loc["w32-s1"]
    steps = np.arange(SETTLED, STEPS[-1] + 1)
    shares = np.interp(steps, STEPS, [0.9 - 0.1 * i + 0.001 for i in range(len(STEPS))])
    assert own["share"] == pytest.approx(np.trapezoid(shares, steps) / (STEPS[-1] - SETTLED), rel=1e-6)
    assert own.loss == 2.5
    short = mean_shares(table[table.step <= 32])  # the share of its end
    assert short.set_index("model")["share"]["w32-s1"] == pytest.approx(0.7 + 0.001)


def test_the_script_its_page_and_its_figure(tmp_path):
    paths = []
    for model in MODELS:
        paths.append(tmp_path / f"{model['model']}.parquet")
        write_table(paths[-1], pa.Table.from_pandas(measured(model)), {})
    output = outputs(tmp_path)
    gradient.main(job(paths, output, {"models": MODELS, "unit": "byte"}))
    text = " ".join(output.markdown.read_text().split())
    assert "| 4 | gradient alone | 0.114 [" in text
    assert "nan" not in text
    assert "rank 32" in output.svg.read_text()
    left, right = gradient.draw(read_record(output.csv)).axes[:2]
    assert len(left.lines) == 3  # ways and ranks
    assert sum(len(line.get_xdata()) for line in right.lines) == len(MODELS)
