"""Differences at equal rank, size and loss, on numbers worked by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from scipy.stats import ttest_1samp
from step_jobs import write_logits

from oversmoothing.models.logit_files import read_logits
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.tables.record import chosen
from studies.other_explanations import show
from studies.other_explanations.show import draw, explanations_page
from studies.other_explanations.table import explanations_table

SEEDS = (1, 2)
# kind, rank, arm, parameters, products, steps; then loss and TTO of seed 1. Seed 2 has .1 more of both.
ARMS = [
    ("family", 4, "bn4", 100, 100, 40, 2.0, 0.50),
    ("family", 8, "bn8", 200, 200, 40, 1.5, 0.26),
    ("family", 16, "bn16", 400, 400, 40, 1.0, 0.10),
    ("shorter", 16, "bn16-10steps", 400, 400, 10, 2.1, 0.42),
    ("shorter", 16, "bn16-20steps", 400, 400, 20, 1.7, 0.30),
    ("mos2", 4, "mos2-bn4", 110, 200, 40, 1.9, 0.40),
    ("mos2", 16, "mos2-bn16", 450, 800, 40, 0.9, 0.08),
    ("tailr", 4, "bn4-tailr0.1", 100, 100, 40, 2.5, 0.45),
    ("tailr", 16, "bn16-tailr0.3", 400, 400, 40, 1.1, 0.12),
    ("label-smoothing", 4, "label-smoothing0.05", 90, 90, 40, 2.6, 0.55),  # a head without a bottleneck
]
# Of the linear heads by temperature, hottest first: TTO less that at 1, and TV; seed 2 has .1 more of both.
TEMPERED = [(1.2, 0.10, 0.30), (1.0, 0.0, 0.22), (0.8, -0.06, 0.20)]
TITLES = {"family": "learned", "shorter": "fewer steps", "mos2": "mixture of two", "tailr": "under TaiLr"}
TITLES["label-smoothing"] = "smoothed"


def models(law=""):
    names = ("kind", "rank", "arm", "parameters", "products", "steps")
    rows = [dict(zip(names, arm[:6], strict=True)) for arm in ARMS]
    return pd.DataFrame(
        {"law": law, "model": f"{row['arm']}-s{seed}", "seed": seed, **row} for row in rows for seed in SEEDS
    )


def levels(law="", loss="loss"):
    return pd.DataFrame(
        {"law": law, "model": f"{arm[2]}-s{seed}", "measure": measure, "value": value + (seed - 1) / 10}
        for arm in ARMS
        for seed in SEEDS
        for measure, value in ((loss, arm[6]), ("tto", arm[7]), ("tv", arm[7] / 2))
    )


def tempered():
    rows = [
        (f"{arm[2]}-s{seed}", t, measure, value + (seed - 1) / 10)
        for arm in ARMS
        for seed in SEEDS
        for t, more, tv in TEMPERED
        for measure, value in (("tto", arm[7] + more), ("tv", tv))
    ]
    return pd.DataFrame(rows, columns=["model", "temperature", "measure", "value"]).assign(law="")


@pytest.fixture(scope="module")
def table():
    both = [levels(), levels("zeros", "kl").assign(value=lambda rows: rows.value * 2)]
    return explanations_table(pd.concat(both), tempered(), pd.concat([models(), models("zeros")]))


def value(table, arm, measure, less, law=None):
    return chosen(table, arm=arm, measure=measure, less=less, law=law).value.tolist()


@pytest.mark.parametrize(
    ("arm", "measure", "less", "expected"),
    [
        ("bn4", "tto", "full", 0.40),
        ("mos2-bn4", "tto", "family", -0.10),
        ("bn4-tailr0.1", "tto", "family", -0.05),
        ("mos2-bn4", "tto", "gain at full rank", -0.10 + 0.02),
        ("mos2-bn4", "tto", "equal operations", 0.40 - 0.26),  # as many as rank 8
        ("mos2-bn4", "tto", "equal parameters", 0.40 - (0.50 - 0.24 * math.log2(1.1))),
        ("mos2-bn16", "tto", "equal operations", -0.02),  # more than the largest linear head has
        ("bn8", "tto", "neighbours", 0.26 - 0.30),
        ("bn4", "tto", "equal loss", 0.50 - (0.42 - 0.12 / 4)),  # at 2.0, a quarter from 2.1 to 1.7
    ],
)
def test_differences_by_hand(table, arm, measure, less, expected):
    assert value(table, arm, measure, less) == pytest.approx([expected])
    if not measure.startswith("loss"):
        assert value(table, arm, measure, less, "zeros") == pytest.approx([2 * expected])  # its loss is KL


@pytest.mark.parametrize(
    ("arm", "temperature", "difference"),
    [
        ("bn4-tailr0.1", 1 - 0.2 * 5 / 6, 0.225 - (0.22 - 0.02 * 5 / 6)),
        ("mos2-bn16", 1 - 0.2 / 3, 0.04 - (0.22 - 0.02 / 3)),
    ],
)
def test_at_the_temperature_with_as_much_tto_by_hand(table, arm, temperature, difference):
    assert value(table, arm, "temperature", None) == pytest.approx([temperature])
    assert value(table, arm, "tv", "equal TTO") == pytest.approx([difference])


@pytest.mark.parametrize(
    ("arm", "measure", "less"),
    [
        ("mos2-bn4", "tv", "equal TTO"),  # less TTO than the linear head has at the lowest temperature
        ("mos2-bn16", "tto", "equal TTO"),  # none by construction
        ("mos2-bn16", "loss", "equal TTO"),  # not known at other temperatures
        ("bn4-tailr0.1", "tto", "gain at full rank"),  # at full rank there is one with another gamma
        ("bn4-tailr0.1", "tto", "equal operations"),  # a linear head
        ("label-smoothing0.05", "tto", "family"),  # of another size
        ("bn4-tailr0.1", "tto", "equal loss"),  # a loss above that of the fewest steps
        ("mos2-bn16", "tto", "equal loss"),  # below that of the most
        ("mos2-bn4", "loss", "equal loss"),  # none by construction
    ],
)
def test_what_cannot_be_compared_has_no_row(table, arm, measure, less):
    assert value(table, arm, measure, less) == []


def test_p_is_adjusted_over_all_arms():
    noise = dict(zip((arm[2] for arm in ARMS), (0, 3, 1, 4, 1, 5, 9, 2, 5, 6), strict=True))
    noisy = levels()
    of_arm = noisy.model.str.rpartition("-s")
    noisy["value"] += (of_arm[2] == "2") * of_arm[0].map(noise) / 1000
    rows = explanations_table(noisy, tempered(), models())
    rows = chosen(rows, measure="tto", less="family").set_index("arm")
    pairs = {"mos2-bn4": (-0.1, -0.095), "mos2-bn16": (-0.02, -0.012)}
    pairs |= {"bn4-tailr0.1": (-0.05, -0.048), "bn16-tailr0.3": (0.02, 0.024)}
    alone = sorted(ttest_1samp(pair, 0).pvalue for pair in pairs.values())
    adjusted = np.maximum.accumulate([4 * alone[0], 3 * alone[1], 2 * alone[2], alone[3]])
    assert rows.p[list(pairs)].sort_values().to_numpy() == pytest.approx(adjusted)


def test_page_and_figure_hold_every_text(table):
    page = explanations_page(table, TITLES, "truth")
    headings = [section.heading for section in page.sections]
    assert headings[0] == "Real text, against `truth`: levels"
    assert "Text of the law `zeros`: less the full linear head at equal loss" in headings
    size = {"model": "linear head, cross-entropy (`bn4`)", "rank": "4"}
    assert page.sections[-1].rows[0] == size | {"parameters": "100", "multiplications a byte": "100"}
    row = chosen(table, arm="bn4", measure="tto", less=None, law=None).iloc[0]
    assert (row.value, row.low, row.high) == pytest.approx(student_interval([0.5, 0.6]))
    assert (row.n, row.better) == (2, "lower")
    figure = draw(table, TITLES, "truth")
    shown = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert shown == ["linear head", "mixture of two", "under TaiLr 0.1", "under TaiLr 0.3", "smoothed 0.05"]
    assert len(figure.axes) == 8
    without = draw(table[table.less != "equal loss"], TITLES, "truth").axes  # which needs full heads of fewer steps
    assert len(without) == 6


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(7)
    drawn = {name: {window: rng.normal(size=(6, 9)) for window in range(3)} for name in ("model", "truth")}
    return [write_logits(tmp_path / f"{name}.parquet", by_window) for name, by_window in drawn.items()]


def test_means_at_other_temperatures_are_those_of_divided_logits(files):
    rows = {(row["temperature"], row["measure"]): row["value"] for row in show.tempered(*map(str, files), 0.9)}
    assert len(rows) == 3 * len(show.TEMPERATURES)
    logits, truth = (np.concatenate([w.model for w in read_logits(path, {})]).astype(float) for path in files)
    p = softmax(truth, axis=1)
    outside = np.ones_like(p, dtype=bool)
    for row, place in zip(p, outside, strict=True):
        order = np.argsort(-row)
        place[order[: np.searchsorted(np.cumsum(row[order]), 0.9) + 1]] = False
    for t in show.TEMPERATURES:
        q = softmax(logits / t, axis=1)
        expected = {
            "tto": (np.maximum(q - p, 0) * outside).sum(axis=1),
            "tv": abs(q - p).sum(axis=1) / 2,
            "kl": (p * np.log(p / q)).sum(axis=1),
        }
        for measure, values in expected.items():
            assert rows[t, measure] == pytest.approx(values.mean(), abs=1e-5)
