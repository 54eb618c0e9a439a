"""The thesis's tables as transcribed: whole, true to each other, and sealed by checksums."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oversmoothing.jobs import UserError
from oversmoothing.store.sums import check_folder
from oversmoothing.tables.published import read_published

PUBLISHED = Path(__file__).resolve().parents[2] / "resources/published"
KEYS = ["model", "truth", "metric", "decoding"]
TRUTHS = ["EvaByte", "NanoGPT 300M"]
E_TABLES = [f"e_{number}" for number in range(1, 7)]
SMALLEST_PROBABILITY = 1e-9  # to which KL clips the model: no KL exceeds -ln of it
ROUNDED = 5e-4  # three digits are printed; the means of two columns hold to half of the last one


def cells(*names):
    """Mean and sd by model, truth, metric and decoding."""
    tables = [pd.read_csv(PUBLISHED / f"table_{name}.csv", dtype={"model": str}) for name in names]
    return pd.concat(tables).fillna({"truth": ""}).set_index(KEYS)[["mean", "sd"]].sort_index()


def test_a_damaged_table_is_named(tmp_path):
    for name in ("SHA256SUMS", "table_4_1.csv"):
        (tmp_path / name).write_bytes((PUBLISHED / name).read_bytes())
    path = tmp_path / "table_4_1.csv"
    read_published([path])
    path.write_text(path.read_text()[:-2] + "9\n")
    with pytest.raises(UserError, match=r"table_4_1\.csv: does not match its checksum in SHA256SUMS"):
        read_published([path])


def test_every_table_has_its_checksum():
    """After a correction: ``sha256sum *.csv > SHA256SUMS`` in that folder."""
    check_folder(PUBLISHED)
    listed = {line.split()[1] for line in (PUBLISHED / "SHA256SUMS").read_text().splitlines()}
    assert listed == {path.name for path in PUBLISHED.glob("*.csv")}


def test_pure_columns_of_the_e_tables_are_tables_4_1_and_4_2():
    pure = cells(*E_TABLES).query("decoding == 'pure'")
    pd.testing.assert_frame_equal(pure, cells("4_1", "4_2").query("metric != 'tbat'"), check_exact=True)


def test_table_6_1_is_the_mean_of_the_e_tables():
    mean = cells(*E_TABLES)["mean"].groupby(["model", "metric", "decoding"]).mean()
    pooled = cells("6_1")["mean"].droplevel("truth")
    assert len(mean) == len(pooled) == 140
    assert ((pooled - mean).abs() <= ROUNDED + 1e-9).all()


def test_average_of_table_f_1_is_the_mean_of_its_columns():
    wide = cells("f_1")["mean"].unstack("truth")
    assert ((wide["mean"] - wide[TRUTHS].mean(axis=1)).abs() <= ROUNDED + 1e-9).all()


@pytest.mark.parametrize(("truth", "entropy"), [("EvaByte", 0.596), ("NanoGPT 300M", 0.731)])
def test_greedy_kl_and_tv_agree_on_the_entropy_of_the_truth(truth, entropy):
    """All mass on one byte: TV = 1 - p, and KL = -ln(1e-9) (1 - p) - entropy, whatever the model."""
    wide = cells(*E_TABLES)["mean"].unstack("metric").xs((truth, "greedy"), level=("truth", "decoding"))
    slope = -np.log(SMALLEST_PROBABILITY)
    assert len(wide) == 7
    assert ((slope * wide.tv - wide.kl - entropy).abs() <= (slope + 1) * ROUNDED).all()
