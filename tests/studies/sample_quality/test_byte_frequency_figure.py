"""The figure of byte frequencies shows what the samples hold."""

import numpy as np
import pyarrow as pa
import pytest

from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import write_table
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


def shares_of(study):
    samples = [study / f"{model['model']}.parquet" for model in MODELS]
    return byte_frequencies(study / "windows.parquet", samples, MODELS)


def test_every_share_is_counted_over_the_same_windows_and_drawn(study):
    shares = shares_of(study)
    assert shares.columns.tolist() == ["human", "rank 4", "mine"]
    np.testing.assert_allclose(shares.sum(), 1)
    assert shares.attrs["bytes"] == 8  # window 2 has no samples
    assert shares.human[[97, 98, 32, 99, 122]].tolist() == [4 / 8, 2 / 8, 1 / 8, 1 / 8, 0]
    assert shares["rank 4"][[97, 98, 255, 0]].tolist() == [6 / 16, 8 / 16, 1 / 16, 1 / 16]  # both seeds together
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


def test_samples_of_other_windows_are_refused(study):
    columns = {"window": pa.array([9], pa.int32()), "continuation": [b"x"]}
    write_table(study / "mine.parquet", pa.table(columns), {})
    with pytest.raises(UserError, match=r"mine.parquet: window 9 is not in"):
        shares_of(study)
