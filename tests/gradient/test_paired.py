"""Differences paired by seed, by hand and against SciPy; steps to equal loss on curves whose ratio is known."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oversmoothing.imposed_rank.paired import SLOWDOWN, paired, paired_table, slowdown, steps_to
from scipy import stats

import paired_ranks_table as script
from oversmoothing.layout import write_csv
from oversmoothing.store.parquet import write_table

SEEDS = (1, 2, 3)
LOSSES = {"w32": (2.0, 2.1, 1.9), "pl4": (2.5, 2.7, 2.3), "bw4": (2.1, 2.2, 2.1), "bn4": (2.6, 2.6, 2.6)}
WAY = {
    "w32": ("learned from scratch", 32),
    "pl4": ("learned from scratch, plain head", 4),
    "bw4": ("gradient alone", 4),
    "bn4": ("learned from scratch", 4),
}
PUBLISHED = pd.DataFrame(
    [{"way": "gradient alone", "rank": 4, "measure": "loss", "mean": 0.2016, "low": 0.1469, "high": 0.2562}]
)


def table():
    rows = []
    for name, losses in LOSSES.items():
        way, rank = WAY[name]
        for seed, loss in zip(SEEDS, losses, strict=True):
            facts = {"way": way, "model": f"{name}-s{seed}", "rank": rank, "seed": seed}
            rows.append({**facts, "truth": None, "measure": "loss", "unit": "nats", "mean": loss})
            rows.append({**facts, "truth": "truth", "measure": "tto", "unit": "probability", "mean": loss / 10})
    return pd.DataFrame(rows)


def history(*losses, every=10):
    return pd.DataFrame({"step": np.arange(len(losses)) * every, "validation_loss": losses})


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=9))
def test_the_interval_is_that_of_scipy(values):
    mean, low, high = paired(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95) if np.ptp(values) else (mean, mean)
    assert (low, high) == pytest.approx(tuple(expected), abs=1e-6)


def test_one_difference_has_no_interval():
    assert paired([0.3])[0] == 0.3
    assert all(map(math.isnan, paired([0.3])[1:]))


def test_differences_are_paired_by_seed():
    found = paired_table(table(), {}, PUBLISHED).set_index(["way", "measure"])
    plain = found.loc["learned from scratch, plain head", "loss"]
    assert plain[["mean", "low", "high"]].tolist() == pytest.approx(paired([0.5, 0.6, 0.4]))
    assert plain.n == 3
    backward = found.loc["gradient alone", "loss"]
    assert backward[["mean", "low", "high"]].tolist() == pytest.approx(paired([0.1, 0.1, 0.2]))
    assert backward.published_mean == 0.2016
    assert math.isnan(plain.published_mean)
    assert found.loc["gradient alone", "tto"]["mean"] == pytest.approx(backward["mean"] / 10)
    assert found.loc["gradient alone", "tto"].truth == "truth"
    assert ("learned from scratch", "loss") in found.index  # rank 4; the full model itself has no row
    assert len(found) == 6


def test_the_order_of_rows_does_not_matter():
    shuffled = table().sample(frac=1, random_state=3)
    keys = ["way", "measure"]
    one, other = (paired_table(t, {}, PUBLISHED).set_index(keys).sort_index() for t in (table(), shuffled))
    pd.testing.assert_frame_equal(one, other)


def test_steps_to_a_loss_lie_between_two_evaluations():
    falling = history(4.0, 3.0, 2.0, 1.0)
    assert steps_to(falling, 3.0) == 10
    assert steps_to(falling, 2.25) == pytest.approx(17.5)
    assert steps_to(falling, 5.0) == 0
    assert steps_to(falling, 0.5) == math.inf
    assert steps_to(history(4.0, 2.0, 3.0, 1.0), 2.5) == pytest.approx(7.5)  # the first time


def test_a_training_that_is_three_times_slower():
    steps = np.arange(0, 601, 20)
    full = pd.DataFrame({"step": steps, "validation_loss": 5 - steps / 200})
    slow = pd.DataFrame({"step": steps, "validation_loss": 5 - steps / 600})
    assert slowdown(slow, full) == pytest.approx(3)
    assert slowdown(full, full) == pytest.approx(1)
    assert slowdown(full, slow) == 0  # it ends below all that the other reaches
    assert slowdown(history(5.0, 6.0), full) == math.inf


def test_slowdowns_are_geometric_means_and_missing_where_a_seed_has_none():
    steps = np.arange(0, 601, 20)
    curves = {f"w32-s{seed}": pd.DataFrame({"step": steps, "validation_loss": 5 - steps / 200}) for seed in SEEDS}
    curves |= {
        f"pl4-s{seed}": pd.DataFrame({"step": steps, "validation_loss": 5 - steps / (200 * factor)})
        for seed, factor in zip(SEEDS, (2, 4, 4), strict=True)
    }
    curves |= {f"bw4-s{seed}": pd.DataFrame({"step": steps, "validation_loss": 5 - steps / 200}) for seed in SEEDS}
    curves["bw4-s2"] = pd.DataFrame({"step": steps, "validation_loss": 5 - steps / 150})
    found = paired_table(table(), curves, PUBLISHED).set_index(["way", "measure"])
    one = found.loc["learned from scratch, plain head", SLOWDOWN]
    assert one["mean"] == pytest.approx(32 ** (1 / 3))
    assert one.low < one["mean"] < one.high
    assert ("gradient alone", SLOWDOWN) not in found.index


def test_the_script_and_its_page(tmp_path):
    write_csv(table(), tmp_path / "imposed.csv")
    write_csv(PUBLISHED, tmp_path / "published.csv")
    histories = []
    for name in ("w32", "pl4"):
        for seed in SEEDS:
            path = tmp_path / f"{name}-s{seed}" / "history.parquet"
            write_table(path, pa.Table.from_pandas(history(5.0, 4.0, 3.0, every=20 if name == "pl4" else 10)), {})
            histories.append(path)
    output = SimpleNamespace(**{kind: tmp_path / f"t.{kind}" for kind in ("csv", "markdown", "html", "latex")})
    inputs = SimpleNamespace(table=tmp_path / "imposed.csv", histories=histories, published=tmp_path / "published.csv")
    script.main(SimpleNamespace(input=inputs, output=output))
    text = output.markdown.read_text()
    assert "0.500 [0.252, 0.748]" in text
    assert "0.202 [0.147, 0.256]" in text
    assert "| 2.000 [2.000, 2.000] " in text
    assert "nan" not in text
    assert pd.read_csv(output.csv).published_mean.notna().sum() == 1
