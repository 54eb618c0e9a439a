"""Means and quantiles of models beside truths: against NumPy and llama.cpp's definitions, on the page and printed."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from step_jobs import job, outputs

import measure as measured
import side_by_side_table as step
from oversmoothing.comparison.report import side_by_side_text
from oversmoothing.measures.entries.side_by_side import KINDS, LEVELS
from oversmoothing.measures.files import write_tables
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.record import read_record
from oversmoothing.tables.side_by_side import UNITS, named, side_by_side_page, side_by_side_table

MODELS = [{"model": "q4", "kind": "family"}]


@pytest.fixture
def found():
    """Eight windows of 50 positions."""
    rng = np.random.default_rng(0)
    kinds = rng.exponential(0.01, 400), rng.random(400) < 0.9, 0.02 * rng.normal(size=400), 0.1 * rng.normal(size=400)
    return SimpleNamespace(**{name: own.astype(KINDS[name]) for name, own in zip(KINDS, kinds, strict=True)})


def written(folder, found, windows):
    """Write positions, as many in each window."""
    parts = {name: np.split(own, windows) for name, own in vars(found).items()}
    tables = (
        measured.keyed(i, {"truth": "whole"}, {name: of[i] for name, of in parts.items()}) for i in range(windows)
    )
    write_tables(folder / "q4.parquet", tables, {})
    return folder / "q4.parquet"


@pytest.fixture
def path(tmp_path, found):
    return written(tmp_path, found, 8)


@pytest.fixture
def table(path):
    return side_by_side_table([path], MODELS, 100, 0)


def value(table, measure, level=None):
    rows = table[table.measure == measure]
    (row,) = rows[rows["quantile"].isna() if level is None else rows["quantile"] == level].to_dict("records")
    return row


def test_means_are_those_of_positions(table, found):
    expected = {
        "perplexity_ratio": math.exp(found.log_ratio.mean(dtype=float)),
        "log_ratio": found.log_ratio.mean(dtype=float),
        "same_top": found.same_top.mean(),
        "kl": found.kl.mean(dtype=float),
        "dp": found.dp.mean(dtype=float),
        "dp_rms": math.sqrt((found.dp.astype(float) ** 2).mean()),
    }
    assert expected.keys() == UNITS.keys()
    for measure, mean in expected.items():
        row = value(table, measure)
        assert row["value"] == pytest.approx(mean, rel=1e-6)
        assert row["low"] <= row["value"] <= row["high"]
        assert (row["n"], row["truth"], row["unit"]) == (400, "whole", UNITS[measure][0])


def test_quantiles_are_those_of_positions_and_the_ends_have_no_interval(table, found):
    for measure in ("kl", "dp"):
        for level in LEVELS:
            row = value(table, measure, level)
            assert row["value"] == pytest.approx(np.quantile(getattr(found, measure).astype(float), level), abs=1e-9)
            decided = 0.05 <= level <= 0.95  # by five windows or more on either side
            assert math.isnan(row["low"]) == (not decided)


def test_one_window_has_no_intervals(tmp_path, found):
    table = side_by_side_table([written(tmp_path, found, 1)], MODELS, 100, 0)
    assert table.low.isna().all()
    assert "nan" not in side_by_side_text(table)
    assert "nan" not in markdown(side_by_side_page(table))


def test_the_step_writes_the_table_in_all_formats(path, tmp_path, table):
    settings = {"models": MODELS, "resamples": 100, "seed": 0, "unit": "byte"}
    step.main(job({"positions": [path]}, outputs(tmp_path), settings))
    kept = read_record(tmp_path / "t.csv")
    assert kept["quantile"].notna().sum() == 2 * len(LEVELS)
    assert kept.value.tolist() == pytest.approx(table.value.tolist(), rel=1e-4)
    page = (tmp_path / "t.md").read_text()
    assert "same top byte ↑" in page
    assert "Quantiles of `q4` beside `whole`" in page
    assert "| 99.9 % " in page
    assert "over 400 bytes" in " ".join(page.split()).lower()


def test_the_printed_report_has_the_quantiles_in_80_columns(table):
    text = side_by_side_text(table)
    lines = {line.split("  ")[0]: line for line in text.splitlines()}
    assert {*map(named, LEVELS), "mean", "RMS"} <= lines.keys()
    assert {"max", "99.9 %", "median", "0.1 %", "min"} <= lines.keys()
    kl = value(table, "kl", 0.5)
    assert f"{kl['value']:#.3g} [{kl['low']:#.3g}, {kl['high']:#.3g}]" in lines["median"]
    assert "[" not in lines["max"]
    same = value(table, "same_top")
    assert f"{same['value']:.4f} [" in lines["same top token ↑"]
    assert max(map(len, text.splitlines())) <= 80
    tiny = table.assign(value=-table.value / 1e6, low=-table.high / 1e6, high=-table.low / 1e6)
    assert max(map(len, side_by_side_text(tiny).splitlines())) <= 80


def test_a_model_that_is_its_truth(tmp_path):
    """No divergence, and an interval of no width wherever there is one."""
    same = SimpleNamespace(**{name: np.full(60, name == "same_top", kind) for name, kind in KINDS.items()})
    table = side_by_side_table([written(tmp_path, same, 6)], MODELS, 100, 0)
    assert value(table, "perplexity_ratio")["value"] == 1
    assert value(table, "same_top")["high"] == 1
    assert "-0" not in side_by_side_text(table)
