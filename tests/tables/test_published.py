"""The thesis's tables as transcribed: complete, and true to each other wherever one number stands in two places."""

from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oversmoothing.jobs import UserError
from oversmoothing.store.sums import check_folder
from oversmoothing.tables.published import read_published

PUBLISHED = Path(__file__).resolve().parents[2] / "resources/published"
KEYS = ["model", "truth", "metric", "decoding"]
RANKS = ["4", "8", "12", "16", "32", "128", "512"]
LOW, HIGH = RANKS[:4], RANKS[4:]
SVD_RANKS = ["4", "8", "12", "16", "20", "24", "28", "32", "64", "128", "256"]
EVABYTE, NANOGPT, TRUTHS = ["EvaByte"], ["NanoGPT 300M"], ["EvaByte", "NanoGPT 300M"]
METRICS = ["tto", "nsmd", "tv", "kl"]
DECODINGS = ["pure", "greedy", "top-k", "top-p", "temperature"]
FIRST, SECOND = ["pure", "greedy", "temperature"], ["top-k", "top-p"]
# Table: its models, truths, metrics, decodings.
CELLS = {
    "6_1": (RANKS, ["mean"], METRICS, DECODINGS),
    "7_1": (SVD_RANKS, TRUTHS, ["tto", "nsmd"], ["pure"]),
    "7_2": (SVD_RANKS, TRUTHS, ["tv", "kl"], ["pure"]),
    "e_1": (LOW, EVABYTE, METRICS, FIRST),
    "e_2": (HIGH, EVABYTE, METRICS, FIRST),
    "e_3": (LOW, EVABYTE, METRICS, SECOND),
    "e_4": (HIGH, EVABYTE, METRICS, SECOND),
    "e_5": (RANKS, NANOGPT, METRICS, FIRST),
    "e_6": (RANKS, NANOGPT, METRICS, SECOND),
    "f_1": (RANKS, [*TRUTHS, "mean"], ["entropy_difference"], ["pure"]),
}
E_TABLES = [f"e_{number}" for number in range(1, 7)]
WITH_SD = ["4_1", "4_2", "7_1", "7_2", *E_TABLES]
SMALLEST_PROBABILITY = 1e-9  # to which KL clips the model: no KL exceeds -ln of it
ROUNDED = 5e-4  # three digits are printed; the means of two columns hold to half of the last one


def read(*names):
    return pd.concat([pd.read_csv(PUBLISHED / f"table_{n}.csv", dtype={"model": str}) for n in names]).reset_index()


def cells(*names):
    """Mean and sd by model, truth, metric and decoding."""
    return read(*names).fillna({"truth": ""}).set_index(KEYS)[["mean", "sd"]].sort_index()


def printed(name):
    table = pd.read_csv(PUBLISHED / f"table_{name}.csv", dtype=str, keep_default_na=False)
    return table.set_index(["model", "metric", "decoding"])[["mean", "sd"]]


def half_a_unit(text):
    return Decimal(5).scaleb(Decimal(text).as_tuple().exponent - 1)


def test_table_i_1_by_hand():
    table = pd.read_csv(PUBLISHED / "table_i_1.csv", dtype={"model": str}).set_index(["model", "metric"])
    assert table.index.is_unique
    assert sorted(table.index) == sorted(product(RANKS, [*METRICS, "tbat"]))
    kl = [(2.89, 2.20), (2.25, 0.775), (2.23, 0.928), (2.31, 1.16), (2.36, 0.791), (2.16, 0.679), (2.67, 0.807)]
    for rank, (mean, sd) in zip(RANKS, kl, strict=True):
        assert tuple(table.loc[(rank, "kl")]) == pytest.approx((mean * 1e-5, sd * 1e-5))


@pytest.mark.parametrize(("name", "count"), [("3_1", 18), ("7_3", 28)])
def test_tables_of_models_have_all_their_rows_once(name, count):
    assert len(read(name)) == count
    assert not read(name).drop(columns="index").duplicated().any()


@pytest.mark.parametrize(
    "damage", [lambda text: "", lambda text: text[: len(text) // 2], lambda text: text[:-2] + "9\n"]
)
def test_a_damaged_table_is_named(tmp_path, damage):
    for name in ("SHA256SUMS", "table_4_1.csv"):
        (tmp_path / name).write_bytes((PUBLISHED / name).read_bytes())
    path = tmp_path / "table_4_1.csv"
    read_published([path])
    path.write_text(damage(path.read_text()))
    with pytest.raises(UserError, match=r"table_4_1\.csv: does not match its checksum in SHA256SUMS"):
        read_published([path])


def test_every_table_has_its_checksum():
    """After a correction: ``sha256sum *.csv > SHA256SUMS`` in that folder."""
    check_folder(PUBLISHED)
    listed = {line.split()[1] for line in (PUBLISHED / "SHA256SUMS").read_text().splitlines()}
    assert listed == {path.name for path in PUBLISHED.glob("*.csv")}


@pytest.mark.parametrize("name", CELLS)
def test_every_cell_stands_once(name):
    table = read(name)
    assert sorted(table[KEYS].itertuples(index=False, name=None)) == sorted(product(*CELLS[name]))
    assert table["mean"].notna().all()
    # Not printed: any sd in Table 6.1, that of the average in Table F.1.
    assert (table.sd.isna() == (table.truth == "mean")).all()
    assert (table.sd.dropna() > 0).all()


def test_values_have_the_digits_that_are_printed():
    for name in CELLS:
        table = printed(name)
        assert all(len(cell.split(".")[1]) == 3 for cell in [*table["mean"], *table.sd] if cell), name


def test_table_3_1_orders_models_alike_by_loss_and_by_accuracy():
    table = read("3_1").pivot_table("mean", "model", "metric")
    assert set(table.index) == {*RANKS, *TRUTHS}
    assert table.notna().all(axis=None)
    assert table.validation_loss.rank().equals(table.accuracy.rank(ascending=False))
    assert table.accuracy.between(0.5, 0.8).all()


def test_table_7_3_keeps_effective_ranks_below_ranks():
    table = read("7_3").pivot_table("mean", "model", "representation")
    assert table.shape == (7, 4)
    assert table.notna().all(axis=None)
    rank = table.index.astype(int)
    assert (table.post_bottleneck <= rank).all()
    assert (table.logits <= rank + 1).all()  # one more for a bias
    assert (table.probabilities <= 256).all()
    assert (table.pre_bottleneck <= 512).all()


def test_pure_columns_of_the_e_tables_are_tables_4_1_and_4_2():
    pure = cells(*E_TABLES).query("decoding == 'pure'")
    pd.testing.assert_frame_equal(pure, cells("4_1", "4_2").query("metric != 'tbat'"), check_exact=True)


def test_svd_at_full_rank_changes_nothing():
    """Tables 7.1 and 7.2 at rank 256, as many as there are bytes, are Tables 4.1 and 4.2 at 512."""
    cut = cells("7_1", "7_2").loc["256"]
    pd.testing.assert_frame_equal(cut, cells("4_1", "4_2").query("metric != 'tbat'").loc["512"], check_exact=True)


def test_svd_gets_no_worse_with_rank():
    wide = cells("7_1", "7_2")["mean"].unstack("model")[SVD_RANKS]
    assert (wide.diff(axis=1).iloc[:, 1:] < 0).all(axis=None)


def test_table_6_1_is_the_mean_of_the_e_tables():
    mean = cells(*E_TABLES)["mean"].groupby(["model", "metric", "decoding"]).mean()
    pooled = cells("6_1")["mean"].droplevel("truth")
    assert len(mean) == len(pooled) == 140
    assert ((pooled - mean).abs() <= ROUNDED + 1e-9).all()


def test_average_of_table_f_1_is_the_mean_of_its_columns():
    wide = cells("f_1")["mean"].unstack("truth")
    assert ((wide["mean"] - wide[TRUTHS].mean(axis=1)).abs() <= ROUNDED + 1e-9).all()


def test_columns_of_table_f_1_are_one_constant_apart():
    """The model's entropy cancels: what is left is how much more entropy one truth has than the other."""
    wide = cells("f_1")["mean"].unstack("truth")
    apart = wide["NanoGPT 300M"] - wide["EvaByte"]
    assert (apart.max() - apart.min()) <= 4 * ROUNDED + 1e-9


def test_tbat_of_table_4_1_is_the_pure_column_of_table_e_7():
    """To the last digit that Table 4.1 prints."""
    short = printed("4_1").query("metric == 'tbat'")
    full = printed("e_7").query("decoding == 'pure'")
    assert list(short.index) == list(full.index)
    for column in ("mean", "sd"):
        for ours, other in zip(short[column], full[column], strict=True):
            assert abs(Decimal(ours) - Decimal(other)) <= half_a_unit(ours), (ours, other)


@pytest.mark.parametrize("name", ["4", "6_1", "7", "e"])
def test_nsmd_is_below_tto_and_tto_below_tv(name):
    tables = {"4": ["4_1", "4_2"], "7": ["7_1", "7_2"], "e": E_TABLES}.get(name, [name])
    wide = cells(*tables)["mean"].unstack("metric")[METRICS].dropna()
    assert len(wide) == {"4": 14, "6_1": 35, "7": 22, "e": 70}[name]
    assert (wide.nsmd <= wide.tto).all()
    assert (wide.tto <= wide.tv).all()
    assert (wide.tv <= np.sqrt(wide.kl / 2)).all()  # Pinsker, and Jensen for the mean


@pytest.mark.parametrize("name", WITH_SD)
def test_spreads_have_their_bounds(name):
    """In [a, b] the variance is at most (m - a) (b - m)."""
    table = cells(name).reset_index().query("metric != 'tbat'")
    ranges = {"tto": (0, 1), "tv": (0, 1), "nsmd": (-1, 1), "kl": (0, -np.log(SMALLEST_PROBABILITY))}
    low, high = np.array([ranges[metric] for metric in table.metric]).T
    assert table["mean"].between(low, high).all()
    assert (table.sd <= np.sqrt((table["mean"] - low) * (high - table["mean"])) + ROUNDED).all()


@pytest.mark.parametrize("name", ["e_7", "e_8"])
def test_spreads_of_tbat_have_their_bound(name):
    """Over 100 prompts, with n - 1 in the variance; a mean printed as 0.000 may be anything up to half a unit."""
    for _, row in printed(name).iterrows():
        mean = float(Decimal(row["mean"]) + half_a_unit(row["mean"]))
        assert float(Decimal(row.sd) - half_a_unit(row.sd)) <= np.sqrt(mean * (1 - mean) * 100 / 99)


@pytest.mark.parametrize(("truth", "entropy"), [("EvaByte", 0.596), ("NanoGPT 300M", 0.731)])
def test_greedy_kl_and_tv_agree_on_the_entropy_of_the_truth(truth, entropy):
    """All mass on one byte: TV = 1 - p, and KL = -ln(1e-9) (1 - p) - entropy, whatever the model."""
    wide = cells(*E_TABLES)["mean"].unstack("metric").xs((truth, "greedy"), level=("truth", "decoding"))
    slope = -np.log(SMALLEST_PROBABILITY)
    assert len(wide) == 7
    assert ((slope * wide.tv - wide.kl - entropy).abs() <= (slope + 1) * ROUNDED).all()
