"""The table of bytes: shares and means by hand, intervals of `statistics`, and what people read."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from step_jobs import job, outputs, write_splits

from oversmoothing.jobs import UserError
from oversmoothing.numerics.statistics import WindowSums, summarise
from oversmoothing.store.parquet import write_table
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.record import read_record
from studies.byte_by_byte.measure import SUMS
from studies.byte_by_byte.table import byte_page, byte_table, main, never_argmax, read_sums, text_of

A, B, BAR, SPACE = b"ab| "
MODELS = [
    {"model": "truth", "kind": "truth", "rank": None, "seed": 1},
    {"model": "bn4-s1", "kind": "family", "rank": 4, "seed": 1},
]
TEXT = {(0, A): 3, (0, B): 1, (1, A): 2, (1, BAR): 2}
ARGMAXES = {"truth": {(0, A): 4, (1, A): 1, (1, BAR): 3}, "bn4-s1": {(0, SPACE): 4, (1, A): 4}}
NSMD = {(0, A): [0.1, 0.2, 0.6], (0, B): [0.5], (1, A): [0.3, 0.3], (1, BAR): [-0.25, 0.75]}


def write_sums(path, text, argmaxes, nsmd=None):
    rows = [(w, b, "occurrences", None, n) for (w, b), n in text.items()]
    rows += [(w, b, "argmaxes", None, n) for (w, b), n in argmaxes.items()]
    for (w, b), values in (nsmd or {}).items():
        rows.append((w, b, "nsmd", "t", sum(values)))
        rows.append((w, b, "nsmd_squares", "t", sum(value**2 for value in values)))
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), SUMS, strict=True)]
    write_table(path, pa.table(columns, schema=SUMS), {})
    return path


@pytest.fixture
def paths(tmp_path):
    return [
        write_sums(tmp_path / "truth.parquet", TEXT, ARGMAXES["truth"]),
        write_sums(tmp_path / "bn4-s1.parquet", TEXT, ARGMAXES["bn4-s1"], NSMD),
    ]


@pytest.fixture
def table(paths):
    return byte_table(read_sums(paths), MODELS, 200, 0)


def cell(table, byte, measure, model):
    return table[(table["class"] == byte) & (table.measure == measure) & (table.model == model)].iloc[0]


def test_the_text_and_argmax_shares(table):
    text = text_of(table)
    assert text.name.tolist() == ["a", "|", "b", "SP"]
    assert text.occurrences.tolist() == [5, 2, 1, 0]
    assert text.share.tolist() == [5 / 8, 2 / 8, 1 / 8, 0]
    assert table["rank"].dropna().unique().tolist() == [4]
    assert table.model.notna().sum() == 4 * 2 + 3  # every byte has two argmax shares, and three occur
    shares = table[table.measure == "argmax_share"].pivot(index="model", columns="class", values="value")
    assert shares[[A, BAR, B, SPACE]].T.to_dict("list") == {
        "truth": [5 / 8, 3 / 8, 0, 0],
        "bn4-s1": [4 / 8, 0, 0, 4 / 8],
    }
    share = cell(table, A, "argmax_share", "truth")
    assert share.n == 8
    assert share.sd == pytest.approx(np.std([1, 1, 1, 1, 1, 0, 0, 0], ddof=1))


def test_nsmd_is_that_of_all_its_values_and_a_byte_of_one_window_has_no_interval(table):
    nsmd = cell(table, A, "nsmd", "bn4-s1")
    values = np.array([0.1, 0.2, 0.6, 0.3, 0.3])
    sums = WindowSums()
    sums.add(np.array([0, 0, 0, 1, 1]), values)
    expected = summarise(sums, 200, 0)
    assert (nsmd.truth, nsmd.n) == ("t", 5)
    assert nsmd[["value", "sd", "low", "high"]].tolist() == pytest.approx(
        [values.mean(), values.std(ddof=1), expected.low, expected.high]
    )
    assert cell(table, BAR, "nsmd", "bn4-s1").value == 0.25
    assert np.isnan(cell(table, BAR, "nsmd", "bn4-s1").low)
    assert cell(table, B, "nsmd", "bn4-s1").value == 0.5
    assert np.isnan(cell(table, B, "nsmd", "bn4-s1").sd)
    assert table[(table["class"] == SPACE) & (table.measure == "nsmd")].empty


def test_never_argmax_are_bytes_of_the_text(table):
    assert never_argmax(table) == {"truth": [B], "bn4-s1": [BAR, B]}


def test_models_of_other_windows_are_refused(tmp_path, paths):
    other = write_sums(tmp_path / "other.parquet", TEXT | {(1, B): 1}, {(0, A): 1})
    with pytest.raises(UserError, match=r"other.parquet: other windows than .*truth.parquet; delete both"):
        read_sums([*paths, other])


def test_an_empty_file_is_named(tmp_path):
    write_table(tmp_path / "none.parquet", SUMS.empty_table(), {})
    with pytest.raises(UserError, match=r"none.parquet: no rows"):
        read_sums([tmp_path / "none.parquet"])


def test_markdown(table):
    text = markdown(byte_page(table, "Title", MODELS))
    lines = [re.sub(r" +", " ", line) for line in text.splitlines()]
    assert "| byte | occurrences | share | truth | rank 4 |" in lines
    assert r"| \| | 2 | 0.250 | 0.375 [0.000, 0.750] | 0.000 |" in lines
    assert r"| \| | 2 | 0.250 | 0.250 ± 0.707 |" in lines
    assert "| b | 1 | 0.125 | 0.500 |" in lines
    assert r"| rank 4 | 2 of 3 | 0.375 | \| b |" in lines
    assert "NSMD against `t` where the byte is the right one: the 3 most frequent bytes" in text
    assert "least" not in text.split("\nEach")[0]
    assert "nan" not in text


def test_script(paths, table, tmp_path):
    output, settings = outputs(tmp_path), {"models": MODELS, "resamples": 200, "seed": 0}
    main(job({"vocabulary": [], "sums": paths, "training": []}, output, settings))
    pd.testing.assert_frame_equal(read_record(output.csv).drop(columns="table"), table.drop(columns="table"), rtol=1e-5)
    text = write_splits(tmp_path, train=b"aab")
    inputs = {"vocabulary": [], "sums": paths, "training": text["train"], "manifest": text["manifest"]}
    main(job(inputs, output, settings))
    counts = read_record(output.csv).query("measure == 'training_occurrences'").set_index("class").value
    assert (len(counts), counts[A], counts[B], counts.sum()) == (256, 2, 1, 3)
