"""Differences paired by seed, by hand and against SciPy; steps to equal loss on curves whose ratio is known."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from default_config import default
from step_jobs import job, outputs

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.store.layout import write_csv
from oversmoothing.store.parquet import write_table
from oversmoothing.tables.record import chosen, read_record, record
from studies.paired_ranks import paired as script
from studies.paired_ranks.paired import FULL, SLOWDOWN, paired_table, per_seed, slowdown, steps_to
from studies.paired_ranks.plan import compared

SEEDS = (1, 2, 3)
LOSSES = {"w32": (2.0, 2.1, 1.9), "pl4": (2.5, 2.7, 2.3), "bw4": (2.1, 2.2, 2.1), "bn4": (2.6, 2.6, 2.6)}
KIND = {"w32": ("family", 32), "pl4": ("plain", 4), "bw4": ("backward", 4), "bn4": ("family", 4)}
PUBLISHED = pd.DataFrame(
    [{"way": "gradient alone", "rank": 4, "measure": "loss", "mean": 0.2016, "low": 0.1469, "high": 0.2562}]
)


def table():
    rows = []
    for name, losses in LOSSES.items():
        kind, rank = KIND[name]
        for seed, loss in zip(SEEDS, losses, strict=True):
            facts = {"kind": kind, "model": f"{name}-s{seed}", "rank": rank, "seed": seed}
            for truth, measure, mean in ((None, "loss", loss), ("truth", "tto", loss / 10), (None, "tbat", loss / 20)):
                unit = "nats" if measure == "loss" else "probability"
                rows.append({**facts, "truth": truth, "measure": measure, "unit": unit, "value": mean, "n": 5000})
    return record(rows)


def differences(curves=None):
    return paired_table(per_seed(table(), curves or {}), PUBLISHED)


def by_kind(table, less):
    return chosen(table, less=less).set_index(["kind", "measure"])


def history(*losses, every=10):
    return pd.DataFrame({"step": np.arange(len(losses)) * every, "validation_loss": losses})


def test_differences_are_paired_by_seed():
    table = differences()
    found = by_kind(table, FULL)
    plain = found.loc["plain", "loss"]
    assert plain[["value", "low", "high"]].tolist() == pytest.approx(student_interval([0.5, 0.6, 0.4]))
    assert plain.n == 3
    backward = found.loc["backward", "loss"]
    assert backward[["value", "low", "high"]].tolist() == pytest.approx(student_interval([0.1, 0.1, 0.2]))
    assert backward.published == 0.2016
    assert math.isnan(plain.published)
    assert found.loc["backward", "tto"].value == pytest.approx(backward.value / 10)
    assert found.loc["backward", "tto"].truth == "truth"
    assert ("family", "loss") in found.index  # rank 4; the full model itself has no row
    between = chosen(table, kind="plain", less="backward", measure="loss").iloc[0]
    assert between[["value", "low", "high"]].tolist() == pytest.approx(student_interval([0.4, 0.5, 0.2]))
    assert len(table.dropna(subset="less")) == 15
    (full,) = chosen(table, kind="family", rank=32, measure="loss", less=None).value
    assert full == pytest.approx(2.0)


def test_a_training_that_is_three_times_slower():
    steps = np.arange(0, 601, 20)
    full = pd.DataFrame({"step": steps, "validation_loss": 5 - steps / 200})
    slow = pd.DataFrame({"step": steps, "validation_loss": 5 - steps / 600})
    assert slowdown(slow, full) == pytest.approx(3)
    assert slowdown(full, full) == pytest.approx(1)
    assert slowdown(full, slow) == pytest.approx(1 / 3)  # it ends below all that the other reaches
    assert slowdown(history(5.0, 6.0), full) == math.inf
    assert steps_to(history(4.0, 2.0, 3.0, 1.0), 2.5) == pytest.approx(7.5)  # the first time
    assert steps_to(history(4.0, 2.0), 0.5) == math.inf


def test_slowdowns_are_geometric_means():
    steps = np.arange(0, 601, 20)
    curves = {f"w32-s{seed}": pd.DataFrame({"step": steps, "validation_loss": 5 - steps / 200}) for seed in SEEDS}
    curves |= {
        f"pl4-s{seed}": pd.DataFrame({"step": steps, "validation_loss": 5 - steps / (200 * factor)})
        for seed, factor in zip(SEEDS, (2, 4, 4), strict=True)
    }
    one = by_kind(differences(curves), None).loc["plain", SLOWDOWN]
    assert one.value == pytest.approx(32 ** (1 / 3))
    assert one.low < one.value < one.high


def test_the_script_and_its_page(tmp_path):
    imposed = table()
    imposed[imposed.measure != "tbat"].assign(table="imposed").to_csv(tmp_path / "imposed.csv", index=False)
    write_csv(PUBLISHED, tmp_path / "published.csv")
    histories = []
    for name in ("w32", "pl4"):
        for seed in SEEDS:
            path = tmp_path / f"{name}-s{seed}" / "history.parquet"
            write_table(path, pa.Table.from_pandas(history(5.0, 4.0, 3.0, every=20 if name == "pl4" else 10)), {})
            histories.append(path)
    scores = []
    for name, losses in LOSSES.items():
        for seed, loss in zip(SEEDS, losses, strict=True):
            scores.append(tmp_path / "tbat" / f"{name}-s{seed}.parquet")
            values = {"window": [0, 0, 1], "truth": pa.nulls(3, pa.string()), "decoding": ["pure"] * 3}
            write_table(scores[-1], pa.table({**values, "value": [loss / 20] * 3}), {})
    output = outputs(tmp_path)
    output.seeds = tmp_path / "seeds.csv"
    inputs = {"table": tmp_path / "imposed.csv", "published": tmp_path / "published.csv"}
    inputs |= {"histories": histories, "tbat": scores}
    script.main(job(inputs, output, {"resamples": 10, "seed": 1, "truth": "truth"}))
    seeds = read_record(output.seeds)
    assert (seeds.groupby(["kind", "measure"]).seed.nunique() == 3).all()
    tbat = chosen(seeds, measure="tbat", kind="plain", less=FULL)
    assert tbat.value.tolist() == pytest.approx([0.025, 0.03, 0.02])
    text = output.markdown.read_text()
    assert "0.500 [0.252, 0.748]" in text
    assert "0.202 [0.147, 0.256]" in text
    assert "| 2.000 [2.000, 2.000] " in text
    assert "nan" not in text
    assert output.png.is_file()
    assert read_record(output.csv).published.notna().sum() == 1
    panels = script.draw(read_record(output.csv), "truth").axes
    assert [len(axes.containers) for axes in panels] == [3, 1, 3]
    (whisker,) = panels[0].containers[1].lines[2][0].get_segments()  # of the plain head
    np.testing.assert_allclose(whisker[:, 1], (0.252, 0.748), atol=1e-3)


FAMILY = [{"width": 288, "heads": 6}, {"rank": 4}, {"rank": 4, "head": "plain"}, {"backward_rank": 4}]


def test_differences_need_several_seeds_and_a_full_model_of_each():
    assert not compared(default(family=FAMILY))
    assert compared(default(family=FAMILY, seeds=[1, 2]))
    assert not compared(default(family=[{"name": "mine", "path": "w.safetensors"}], seeds=[1, 2]))
