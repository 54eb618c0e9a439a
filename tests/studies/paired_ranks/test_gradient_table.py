"""Shares of the gradient along training: the table, its means, and the figures that people look at."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from step_jobs import job, outputs

from oversmoothing.store.parquet import write_table
from oversmoothing.tables.record import record
from studies.paired_ranks import show_gradient, show_paired
from studies.paired_ranks.gradient import SETTLED, gradient_table, mean_shares
from studies.paired_ranks.paired import EQUAL_LOSS, FULL, SLOWDOWN

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


@pytest.fixture
def table():
    return gradient_table({model["model"]: measured(model) for model in MODELS}, MODELS)


def test_the_table_has_the_shares_and_losses_of_all_snapshots(table):
    assert len(table) == len(MODELS) * len(STEPS) * 4
    assert set(table.kind) == {"family", "plain", "backward"}
    assert "tto" not in set(table.measure)


def test_the_mean_share_is_over_steps_and_not_over_snapshots(table):
    own = mean_shares(table).set_index("model").loc["w32-s1"]
    steps = np.arange(SETTLED, STEPS[-1] + 1)
    shares = np.interp(steps, STEPS, [0.9 - 0.1 * i + 0.001 for i in range(len(STEPS))])
    assert own["share"] == pytest.approx(np.trapezoid(shares, steps) / (STEPS[-1] - SETTLED), rel=1e-6)
    assert own.loss == 2.5


def test_a_short_training_has_the_share_of_its_end(table):
    short = table[table.step <= 32]
    assert mean_shares(short).set_index("model")["share"]["w32-s1"] == pytest.approx(0.7 + 0.001)


def test_the_script_and_its_page(tmp_path):
    paths = []
    for model in MODELS:
        paths.append(tmp_path / f"{model['model']}.parquet")
        write_table(paths[-1], pa.Table.from_pandas(measured(model)), {})
    output = outputs(tmp_path)
    show_gradient.main(job(paths, output, {"models": MODELS, "unit": "byte"}))
    text = " ".join(output.markdown.read_text().split())
    assert "| 4 | gradient alone | 0.114 [" in text
    assert "nan" not in text
    assert output.png.stat().st_size > 10_000
    assert "rank 32" in output.svg.read_text()


def test_the_figure_has_a_line_per_way_and_rank_and_a_point_per_model(table):
    left, right = show_gradient.draw(table).axes[:2]
    assert len(left.lines) == 3
    assert sum(len(line.get_xdata()) for line in right.lines) == len(MODELS)


def test_the_figure_of_costs_shows_the_intervals_of_the_table():
    rows = []
    for kind in ("plain", "backward", "retrained", "full_head"):
        for rank in (4, 8):
            for measure, less in (("loss", FULL), (SLOWDOWN, None), ("tto", FULL), ("tto", EQUAL_LOSS), ("tbat", FULL)):
                truth = "truth" if measure.startswith("tto") else None
                mean = rank / 10 + (measure == SLOWDOWN)
                rows.append(
                    {
                        **{"kind": kind, "rank": rank, "truth": truth, "measure": measure, "less": less, "n": 5},
                        **{"value": mean, "low": mean - 0.1, "high": mean + 0.2},
                    }
                )
    panels = show_paired.draw(record(rows), "truth").axes
    assert len(panels) == 4
    for axes in panels:
        assert len(axes.containers) == 3  # a full head imposes no rank
        whiskers = axes.containers[0].lines[2][0].get_segments()
        assert np.allclose(whiskers[0][1][1] - whiskers[0][0][1], 0.3)
