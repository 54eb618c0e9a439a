"""The sentences on what heads force, which say no more than the intervals allow, and the figure of their table."""

import math

import pandas as pd
import pytest

from oversmoothing.tables.record import record
from studies.forced_part.figure import draw
from studies.forced_part.finding import finding, opening

UNDECIDED = "What the head forces of the KL to the truth, and the rest"


def rows(rank, share=(0.5, 0.4, 0.6), kl=1.0, model=None, seed=1, truth="truth", kind="family", norm=None):
    """Return the rows of one model against one truth; intervals of nats are those of the share."""
    mean, low, high = share
    nats = {"forced": share, "kl": (1, 0.9, 1.1), "rest": (1 - mean, 1 - high, 1 - low), "norm_forced": norm}
    values = {name: tuple(kl * x for x in own) for name, own in nats.items() if own is not None}
    values |= {"share": share, "tto": (0.3, 0.29, 0.31), "nearest_tto": (0.2, 0.19, 0.21)}
    facts = {"model": model or f"bn{rank}-s{seed}", "kind": kind, "rank": rank, "seed": seed, "truth": truth}
    return [
        facts | {"measure": name, "value": mean, "sd": 0.1, "low": low, "high": high, "n": 100}
        for name, (mean, low, high) in values.items()
    ]


def table(*parts):
    return record(row for part in parts for row in part)


DEFAULT = table(
    rows(4, (0.64, 0.62, 0.65)), rows(8, (0.3, 0.29, 0.31)), rows(16, (0.08, 0.07, 0.09)), rows(288, (0, 0, 0))
)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ((0.64, 0.62, 0.65), "more than half of the KL to the truth at rank 4"),
        ((0.3, 0.11, 0.49), "a tenth to half of the KL to the truth at rank 4"),
        ((0.05, 0.01, 0.09), "less than a tenth of the KL to the truth at rank 4"),
        ((0, 0, 0), "nothing of the KL to the truth at rank 4"),
        ((0, math.nan, math.nan), "nothing of the KL to the truth at rank 4"),
        ((0.52, 0.49, 0.55), "52 [49, 55] % of the KL to the truth at rank 4"),  # on both sides of a half
        ((0.09, 0.07, 0.11), "9 [7, 11] % of the KL to the truth at rank 4"),  # and of a tenth
        ((0.5, 0.5, 0.6), "50 [50, 60] % of the KL to the truth at rank 4"),
        ((0.64, math.nan, math.nan), "64 % of the KL to the truth at rank 4"),  # a single window
    ],
)
def test_a_share_is_named_by_the_side_on_which_its_interval_lies(own, said):
    assert finding(table(rows(4, own))) == f"Whatever can enter it, the head forces {said}"


def test_ranks_of_one_amount_stand_together_from_the_lowest():
    said = finding(pd.concat([table(rows(32, (0.01, 0.008, 0.012))), DEFAULT]))
    assert said == (
        "Whatever can enter it, the head forces more than half of the KL to the truth at rank 4, a tenth to half at "
        "rank 8, less than a tenth at ranks 16 and 32, nothing at rank 288"
    )
    same = finding(table(rows(4, (0.3, 0.2, 0.4)), rows(8, (0.3, 0.2, 0.4))))
    assert same == "Whatever can enter it, the head forces a tenth to half of the KL to the truth at ranks 4 and 8"


def test_seeds_and_each_truth_must_allow_it():
    seeds = table(rows(4, (0.6, 0.55, 0.65)), rows(4, (0.5, 0.45, 0.55), seed=2))
    assert "forces 55 [-9, 119] % of" in finding(seeds)  # Student's t over two
    truths = table(rows(4, (0.6, 0.55, 0.65)), rows(4, (0.4, 0.35, 0.45), truth="other"))
    assert "forces more than half of the KL to truth at rank 4; a tenth to half of the KL to other at" in finding(
        truths
    )
    alike = table(rows(4, (0.6, 0.55, 0.65)), rows(4, (0.7, 0.65, 0.75), truth="other"))
    assert "forces more than half of the KL to each truth at rank 4" in finding(alike)


def test_models_without_a_rank_go_by_their_names_and_other_kinds_do_not_count():
    hub = table(rows(None, (0.6, 0.55, 0.65), model="small"), rows(None, (0, 0, 0), model="large"))
    said = finding(pd.concat([hub, table(rows(4, (0.3, 0.2, 0.4), kind="svd"))]))
    assert said == (
        "Whatever can enter it, the head forces more than half of the KL to the truth in small, nothing in large"
    )
    assert finding(table(rows(4, kind="svd"))) == UNDECIDED
    assert finding(table(rows(4, (math.nan, math.nan, math.nan)))) == UNDECIDED


def test_the_opening_gives_the_numbers_of_each_truth():
    first, second = opening(DEFAULT)
    assert first == f"{finding(DEFAULT)}. What is not forced is the model's own: its trunk, its training and its text."
    assert second.startswith("Forced, in nats: 0.640 [0.620, 0.650] of 1.000 at rank 4; ")
    assert second.endswith("; 0 of 1.000 at rank 288.")
    both = list(opening(table(rows(4), rows(4, (0.05, math.nan, math.nan), truth="other", kl=2))))
    assert both[1:] == [
        "Forced, against truth, in nats: 0.500 [0.400, 0.600] of 1.000 at rank 4.",
        "Forced, against other, in nats: 0.100 of 2.000 at rank 4.",
    ]


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
