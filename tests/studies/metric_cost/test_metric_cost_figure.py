"""The figure of what the metrics cost holds what the table says."""

import numpy as np
import pandas as pd
import pytest

from oversmoothing.tables.record import record
from studies.metric_cost.figure import draw
from studies.metric_cost.timed import RATIO, TIMED

NAMES = ["TV", "KL", "NSMD", "TTO", "TBAT here", "TBAT as published:\none LP per token"]


def costs(ranks=(4, 8, 288), published=("4", "8", "512")):
    rows = []
    for rank, known in zip(ranks, published, strict=True):
        for i, metric in enumerate(TIMED):
            mean = (10.0 ** (i - 5)) * rank
            row = {"model": f"bn{rank}-s1", "rank": rank, "measure": metric, "value": mean, "n": 2}
            rows.append(row | {"published_model": known, "published": 2 * mean if known else None})
        rows.append({"model": f"bn{rank}-s1", "rank": rank, "measure": RATIO, "value": 1234.0})
    return record(rows)


def texts(figure):
    axes = figure.axes[0]
    return [text.get_text() for text in (*axes.texts, *axes.get_legend().get_texts(), *axes.get_xticklabels())]


def test_every_metric_has_a_line_and_a_look_of_its_own():
    figure = draw(costs())
    heights = [line.get_ydata().tolist() for line in figure.axes[0].lines]
    for metric, seconds in costs()[lambda table: table.measure != RATIO].groupby("measure"):
        assert seconds.value.tolist() in heights
        assert (seconds.published.tolist() in heights) == (metric != "tbat")
    measured = [line for line in figure.axes[0].lines if line.get_linewidth() == 1.8 and len(line.get_xdata()) == 3]
    assert len({(line.get_color(), line.get_marker()) for line in measured}) == len(measured) == len(TIMED)
    assert set(NAMES) <= set(texts(figure))


def test_published_times_stand_at_the_thesiss_rank():
    figure = draw(costs())
    assert "512" in texts(figure)
    assert "the thesis, on other hardware" in texts(figure)
    assert texts(figure).count("1,200\N{MULTIPLICATION SIGN}") == 3


def test_without_published_times():
    figure = draw(costs((6, 7), (None, None)))
    assert "the thesis, on other hardware" not in texts(figure)
    assert len(figure.axes[0].lines) == 6 + 2 + 2  # metrics, spans, legend


def test_labels_of_lines_that_meet_keep_apart():
    same = costs().assign(value=1e-4, published=np.nan, published_model=None)
    axes = draw(same).axes[0]
    heights = [text.get_position()[1] for text in axes.texts if text.get_text() in NAMES]
    assert len(heights) == 6
    assert np.diff(np.sort(heights)).min() > 0.04


def test_a_rank_at_which_the_published_method_did_not_run_has_no_ratio():
    table = costs()
    table.loc[(table["rank"] == 288) & table.measure.isin(["tbat_published_method", RATIO]), "value"] = np.nan
    figure = draw(table)
    assert texts(figure).count("1,200\N{MULTIPLICATION SIGN}") == 2
    assert "nan" not in " ".join(texts(figure))
    assert set(NAMES) <= set(texts(figure))


def test_several_seeds_are_averaged():
    twice = pd.concat([costs(), costs().assign(value=lambda table: 3 * table.value)])
    heights = [line.get_ydata().tolist() for line in draw(twice).axes[0].lines]
    assert pytest.approx([2 * value for value in (4e-5, 8e-5, 288e-5)]) in heights
