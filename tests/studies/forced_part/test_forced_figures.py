"""The figure of what heads force holds what its table says."""

import math

import pytest
from test_forced_finding import DEFAULT, rows, table

from studies.forced_part.figure import draw
from studies.forced_part.finding import finding


def words(artists):
    return [artist.get_text() for artist in artists]


def bars(axes):
    """Heights of the bars that start at 0, and of those that stand on them, with where these start."""
    patches = axes.patches
    half = len(patches) // 2
    return [bar.get_height() for bar in patches[:half]], [(bar.get_y(), bar.get_height()) for bar in patches[half:]]


def test_the_forced_part_and_the_rest_add_up_to_the_divergence():
    figure = draw(DEFAULT)
    left, right = figure.axes
    forced, rest = bars(left)
    assert forced == pytest.approx([0.64, 0.3, 0.08, 0])
    assert [start for start, _ in rest] == pytest.approx(forced)
    assert [start + height for start, height in rest] == pytest.approx([1] * 4)
    assert words(left.texts) == ["64 %", "30 %", "8.0 %", "0 %"]
    assert words(left.get_xticklabels()) == words(right.get_xticklabels()) == ["4", "8", "16", "288"]
    heights = [list(line.get_ydata()) for line in right.lines if line.get_marker() in ("o", "D")]
    assert heights == [[0.3] * 4, [0.2] * 4]
    assert " ".join(figure.get_suptitle().split()) == finding(DEFAULT)
    assert not any("LayerNorm" in text for text in words(left.get_legend().get_texts()))


def test_the_bound_with_the_layernorm_is_drawn_where_it_is_known():
    known = table(rows(4, (0.5, 0.4, 0.6), norm=(0.7, 0.65, 0.75)), rows(288, (0, 0, 0)))
    left = draw(known).axes[0]
    (marks,) = [line for line in left.lines if line.get_marker() == "v"]
    assert marks.get_ydata()[0] == 0.7
    assert math.isnan(marks.get_ydata()[1])
    assert any("LayerNorm" in text for text in words(left.get_legend().get_texts()))
