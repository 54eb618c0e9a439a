"""The figure of byte frequencies shows what the samples hold."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import write_table
from oversmoothing.tables.figures.style import write_figure
from studies.sample_quality.figure import byte_frequencies, draw

MODELS = [{"model": "bn4-s1", "rank": 4}, {"model": "bn4-s2", "rank": 4}, {"model": "mine", "rank": None}]


@pytest.fixture
def study(tmp_path):
    columns = {"window": pa.array([0, 1, 2], pa.int32()), "scored": [b"aaab", b"ab c", b"zzzz"]}
    write_table(tmp_path / "windows.parquet", pa.table(columns), {})
    for model, texts in {
        "bn4-s1": [b"aaaa", b"\xff\x00aa"],
        "bn4-s2": [b"bbbb", b"bbbb"],
        "mine": [b"aaab"] * 2,
    }.items():
        columns = {"window": pa.array([0, 1], pa.int32()), "continuation": texts}
        write_table(tmp_path / f"{model}.parquet", pa.table(columns), {})
    return tmp_path


def samples(study):
    return [study / f"{model['model']}.parquet" for model in MODELS]


def text_like(seed, noise):
    """Frequencies that fall as a language's do."""
    shares = np.zeros(256)
    shares[np.random.default_rng(0).permutation(256)[:80]] = 0.9 ** np.arange(80)
    shares += noise * np.random.default_rng(seed).random(256)
    return shares / shares.sum()


def test_shares_are_counts_over_the_same_windows(study):
    shares = byte_frequencies(study / "windows.parquet", samples(study), MODELS)
    assert shares.columns.tolist() == ["human", "rank 4", "mine"]
    np.testing.assert_allclose(shares.sum(), 1)
    assert shares.attrs["bytes"] == 8  # window 2 has no samples
    assert shares.human[[97, 98, 32, 99, 122]].tolist() == [4 / 8, 2 / 8, 1 / 8, 1 / 8, 0]
    assert shares["rank 4"][[97, 98, 255, 0]].tolist() == [6 / 16, 8 / 16, 1 / 16, 1 / 16]  # both seeds together


def test_samples_of_other_windows_are_refused(study):
    columns = {"window": pa.array([9], pa.int32()), "continuation": [b"x"]}
    write_table(study / "mine.parquet", pa.table(columns), {})
    with pytest.raises(UserError, match=r"mine.parquet: window 9 is not in"):
        byte_frequencies(study / "windows.parquet", samples(study), MODELS)


def test_every_share_is_drawn(study):
    shares = byte_frequencies(study / "windows.parquet", samples(study), MODELS)
    figure = draw(shares, MODELS)
    overall, most, least = figure.axes
    for axes in (most, least):
        names = [tick.get_text() for tick in axes.get_xticklabels()]
        assert names == ["a", "b", "SP", "c"]
        assert [bar.get_height() for bar in axes.patches] == [0.5, 0.25, 0.125, 0.125]
        drawn = [line.get_ydata().tolist() for line in axes.lines if len(line.get_ydata()) == 4]
        assert drawn == [shares.loc[[97, 98, 32, 99], name].tolist() for name in ("rank 4", "mine")]
    beyond = [
        line.get_ydata()[0] for line in overall.lines if line.get_markersize() == 6 and line.get_marker() != "None"
    ]
    assert beyond == [2 / 16]  # FF and NUL, which the human text has not; "mine" has none
    assert [tick.get_text().strip() for tick in overall.get_xticklabels()] == ["a", "b", "SP", "c", "all\nothers"]
    assert "never has" in overall.get_title(loc="left")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["human text", "rank 4: 0.375", "mine: 0.250"]


def test_no_place_for_others_where_there_are_none(study):
    shares = byte_frequencies(study / "windows.parquet", samples(study), MODELS).drop(columns="rank 4")
    overall = draw(shares, MODELS[2:]).axes[0]
    assert [tick.get_text() for tick in overall.get_xticklabels()] == ["a", "b", "SP", "c"]
    assert overall.get_title(loc="left") == "All bytes"


def test_extremes_are_ten_each():
    columns = {"human": text_like(0, 0), "rank 4": text_like(1, 0.01), "rank 8": text_like(2, 0.001)}
    shares = pd.DataFrame(columns, index=pd.RangeIndex(256, name="byte"))
    shares.attrs["bytes"] = 20_000
    models = [{"model": f"bn{rank}", "rank": rank} for rank in (4, 8)]
    _, most, least = draw(shares, models).axes
    heights = [bar.get_height() for bar in (*most.patches, *least.patches)]
    assert len(heights) == 20
    assert heights == sorted(heights, reverse=True)
    assert min(heights) > 0
    assert most.get_title(loc="left").startswith("The 10 most")


@pytest.mark.parametrize("name", ["f.png", "f.svg"])
def test_equal_samples_give_equal_files(study, name):
    files = []
    for folder in ("x", "y"):
        shares = byte_frequencies(study / "windows.parquet", samples(study), MODELS)
        write_figure(draw(shares, MODELS), [study / folder / name])
        files.append((study / folder / name).read_bytes())
    assert files[0] == files[1]
