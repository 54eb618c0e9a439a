"""Figures 4.2, 4.3 and A.1 show what the table of bytes and the text hold."""

import numpy as np
import pytest
from corpus_jobs import assert_a_flipped_bit_is_noticed
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from step_jobs import job, write_splits

from oversmoothing.store.layout import write_csv
from oversmoothing.tables.record import record
from studies.byte_by_byte import figures
from studies.byte_by_byte.figures import KINDS, TEXT, argmax_shares
from studies.byte_by_byte.table import count_bytes

MODELS = [
    {"model": "truth", "kind": "truth", "rank": None, "seed": 1},
    {"model": "bn4-s1", "kind": "family", "rank": 4, "seed": 1},
    {"model": "bn4-s2", "kind": "family", "rank": 4, "seed": 2},
    {"model": "bn8-s1", "kind": "family", "rank": 8, "seed": 1},
]
OCCURRENCES = {"a": 6, "b": 3, "c": 1, "z": 0}
ARGMAXES = {  # of 10 positions
    "truth": {"a": 6, "b": 3, "c": 1},
    "bn4-s1": {"a": 10},
    "bn4-s2": {"a": 8, "b": 2},
    "bn8-s1": {"a": 5, "b": 4, "z": 1},
}
NSMD = {  # mean, low, high
    "bn4-s1": {"a": (0.5, 0.4, 0.6), "b": (0.7, 0.2, 0.9), "c": (0.9, np.nan, np.nan)},
    "bn4-s2": {"a": (0.4, 0.3, 0.5), "b": (0.5, 0.4, 0.6), "c": (0.1, np.nan, np.nan)},
    "bn8-s1": {"a": (-0.1, -0.2, 0), "b": (0.1, 0, 0.2), "c": (0.2, np.nan, np.nan)},
}


@pytest.fixture
def table():
    rows = []
    for byte, n in OCCURRENCES.items():
        text = {"class": ord(byte)}
        rows += [text | {"measure": "occurrences", "value": n}, text | {"measure": "share", "value": n / 10}]
        for model, times in ARGMAXES.items():
            rows.append(text | {"measure": "argmax_share", "model": model, "value": times.get(byte, 0) / 10, "n": 10})
        for model in NSMD if n else ():
            numbers = dict(zip(("value", "low", "high"), NSMD[model][byte], strict=True))
            rows.append(text | {"measure": "nsmd", "model": model, "truth": "truth", "n": n} | numbers)
    other = [row | {"truth": "other", "value": 0.0} for row in rows if row["measure"] == "nsmd"]
    return record(rows + other)


def words(artists):
    return [artist.get_text() for artist in artists]


def test_argmax_figure(table):
    figure = figures.draw_argmaxes(argmax_shares(table, MODELS), MODELS, ["truth"])
    overall, never, most, least = figure.axes
    labels = words(figure.legends[0].get_texts())
    assert labels == [TEXT, "truth: 0.000", "rank 4: 0.300", "rank 8: 0.200"]
    (mesh,) = [artist for artist in never.collections if isinstance(artist, QuadMesh)]
    dark = np.asarray(mesh.get_array()).reshape(3, 3).astype(int).tolist()
    assert dark == [[0, 0, 0], [0, 0, 1], [0, 0, 1]]  # of a, b, c: neither rank ever says c
    assert words(never.get_yticklabels()) == ["truth: 0", "rank 4: 1", "rank 8: 1"]
    assert words(never.get_xticklabels()) == ["a", "b", "c", "all\nothers"]
    assert overall.get_xlim() == never.get_xlim()
    alone = [line for line in overall.lines if line.get_markersize() == 6 and line.get_marker() != "None"]
    assert [line.get_ydata()[0] for line in alone] == [0.1]  # the z of rank 8
    for axes in (most, least):
        assert words(axes.get_xticklabels()) == ["a", "b", "c"]
        assert [bar.get_height() for bar in axes.patches] == [0.6, 0.3, 0.1]
    marks = [line.get_ydata().tolist() for line in most.lines]
    assert marks == [pytest.approx([0.6, 0.3, 0.1]), pytest.approx([0.9, 0.1, 0]), pytest.approx([0.5, 0.4, 0])]
    assert most.get_ylim()[0] < 0  # a mark at zero is whole


def test_nsmd_figure(table):
    figure = figures.draw_oversmoothing(table, MODELS, "truth")
    above, below = figure.axes
    assert [bar.get_height() for bar in below.patches] == [6, 3, 1]
    assert words(below.get_xticklabels()) == ["a", "b", "c"]
    drawn = [line.get_ydata().tolist() for line in above.lines if line.get_linestyle() == "None"]
    assert drawn[:5] == [[0.4, 0.5, 0.1], [0.5, 0.7], [0.9], [-0.1, 0.1], [0.2]]  # between; worst and best, and alone
    hollow = [line.get_markerfacecolor() for line in above.lines if list(line.get_ydata()) in ([0.9], [0.2])]
    assert hollow == ["white", "white"]
    spans = [artist.get_segments() for artist in above.collections if isinstance(artist, LineCollection)]
    heights = [[segment[:, 1].tolist() for segment in segments] for segments in spans]
    assert heights == [[[0.4, 0.6], [0.2, 0.9]], [[-0.2, 0], [0, 0.2]]]
    low, high = above.get_ylim()
    assert low < -0.2
    assert high > 0.9
    labels = words(figure.legends[0].get_texts())
    assert "rank 4, seed 1 oversmooths most: 0.600 over all positions" in labels
    assert "rank 8, seed 1 oversmooths least: -0.010 over all positions" in labels


def test_counts_whatever_the_block():
    data = np.random.default_rng(0).integers(0, 256, 1000).astype(np.uint8)
    expected = [data.tolist().count(b) for b in range(256)]
    assert count_bytes(data, 7).tolist() == count_bytes(data).tolist() == expected


def test_chart_has_a_dot_for_every_byte_of_the_text():
    counts = np.zeros(256, np.int64)
    counts[[0x20, 0x41, 0xC3]] = [100, 10, 1]
    figure = figures.draw_chart(counts)
    axes = figure.axes[0]
    dots = next(artist for artist in axes.collections if isinstance(artist, PathCollection))
    assert np.floor(dots.get_offsets()).astype(int).tolist() == [[0, 2], [1, 4], [3, 12]]  # column and row
    assert np.diff(dots.get_sizes()).max() < 0
    assert len(axes.patches) == len(axes.texts) == 256
    assert [text.get_text() for text in axes.texts[0x7E:0x81]] == ["~", "DEL", "80"]
    legends = {label for legend in figure.legends for label in words(legend.get_texts())}
    assert {label for label, _ in KINDS.values()} | {"1", "10", "100"} == legends
    assert "3 of the 256 among its 111 bytes" in figure.get_label()


def test_the_step_writes_all_figures(table, tmp_path):
    write_csv(table, tmp_path / "bytes.csv")
    text = write_splits(tmp_path, train=b"Some text.")
    inputs = {"table": tmp_path / "bytes.csv", "training": text["train"], "manifest": text["manifest"]}
    names = ("utf8_bytes", "argmax_frequency", "byte_oversmoothing")
    figures.main(job(inputs, {n: [tmp_path / f"{n}.svg"] for n in names}, {"models": MODELS, "truths": ["truth"]}))
    assert len({(tmp_path / f"{name}.svg").read_bytes() for name in names}) == 3


def test_the_training_split_is_read_only_as_its_manifest_has_it(tmp_path):
    assert_a_flipped_bit_is_noticed(tmp_path, figures.main, "train")
