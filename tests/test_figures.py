"""Figures: they hold what the table says, and equal tables give equal files."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import metric_cost_figure as script
from oversmoothing.costs.timed import TIMED
from oversmoothing.figures.style import model_looks, rank_axis, rank_look, step_axis, write_figure

NAMES = ["TV", "KL", "NSMD", "TTO", "TBAT here", "TBAT as published:\none LP per token"]


def costs(ranks=(4, 8, 288), published=("4", "8", "512")):
    rows = []
    for rank, known in zip(ranks, published, strict=True):
        for i, metric in enumerate(TIMED):
            mean = (10.0 ** (i - 5)) * rank
            row = {"model": f"bn{rank}-s1", "rank": rank, "metric": metric, "mean": mean, "n": 2, "ratio": np.nan}
            row |= {"published_model": known, "published_mean": 2 * mean if known else np.nan}
            rows.append(row | ({"ratio": 1234.0} if metric == "tbat" else {}))
    return pd.DataFrame(rows)


def texts(figure):
    axes = figure.axes[0]
    return [text.get_text() for text in (*axes.texts, *axes.get_legend().get_texts(), *axes.get_xticklabels())]


def test_every_metric_has_a_line_and_a_look_of_its_own():
    figure = script.draw(costs())
    heights = [line.get_ydata().tolist() for line in figure.axes[0].lines]
    for metric in TIMED:
        own = costs()[lambda table, metric=metric: table.metric == metric]
        assert own["mean"].tolist() in heights
        assert (own.published_mean.tolist() in heights) == (metric != "tbat")
    measured = [line for line in figure.axes[0].lines if line.get_linewidth() == 1.8 and len(line.get_xdata()) == 3]
    assert len({(line.get_color(), line.get_marker()) for line in measured}) == len(measured) == len(TIMED)
    assert set(NAMES) <= set(texts(figure))


def test_published_times_stand_at_the_thesiss_rank():
    figure = script.draw(costs())
    assert "512" in texts(figure)
    assert "the thesis, on other hardware" in texts(figure)
    assert texts(figure).count("1,200\N{MULTIPLICATION SIGN}") == 3


def test_without_published_times():
    figure = script.draw(costs((6, 7), (None, None)))
    assert "the thesis, on other hardware" not in texts(figure)
    assert len(figure.axes[0].lines) == 6 + 2 + 2  # metrics, spans, legend


def test_labels_of_lines_that_meet_keep_apart():
    same = costs().assign(mean=1e-4, published_mean=np.nan, published_model=None)
    axes = script.draw(same).axes[0]
    heights = [text.get_position()[1] for text in axes.texts if text.get_text() in NAMES]
    assert len(heights) == 6
    assert np.diff(np.sort(heights)).min() > 0.04


def test_a_rank_at_which_the_published_method_did_not_run_has_no_ratio():
    table = costs()
    table.loc[(table["rank"] == 288) & (table.metric == "tbat_published_method"), "mean"] = np.nan
    table.loc[table["rank"] == 288, "ratio"] = np.nan
    figure = script.draw(table)
    assert texts(figure).count("1,200\N{MULTIPLICATION SIGN}") == 2
    assert "nan" not in " ".join(texts(figure))
    assert set(NAMES) <= set(texts(figure))


def test_several_seeds_are_averaged():
    twice = pd.concat([costs(), costs().assign(mean=lambda table: 3 * table["mean"])])
    heights = [line.get_ydata().tolist() for line in script.draw(twice).axes[0].lines]
    assert pytest.approx([2 * value for value in (4e-5, 8e-5, 288e-5)]) in heights


@pytest.mark.parametrize("ranks", [(4, 8, 16, 32, 288), (4, 8, 12, 16, 32, 128, 512)])
def test_a_rank_has_one_look_in_every_figure(ranks):
    models = [{"model": f"bn{rank}", "kind": "family", "rank": rank} for rank in ranks]
    truths = [{"model": name, "kind": "truth", "rank": None} for name in ("one", "other")]
    looks = model_looks([*reversed(models), *truths, {"model": "mine", "rank": None}], ["one", "other"])
    assert list(looks) == ["one", "other", *(f"rank {rank}" for rank in ranks), "mine"]
    assert all(looks[f"rank {rank}"] == rank_look(rank) for rank in ranks)
    for key in ("color", "marker"):
        assert len({look[key] for name, look in looks.items() if name.startswith("rank")}) == len(ranks)
    assert {looks[name]["color"] for name in ("one", "other")} == {"black"}
    assert looks["one"]["linestyle"] != looks["other"]["linestyle"]
    assert model_looks(truths[1:], ["one", "other"]) == {"other": looks["other"]}  # in a figure of its own


@pytest.mark.parametrize(
    ("ranks", "ticks"),
    [
        ((4, 8, 16, 32, 64, 128, 256, 288), [4, 8, 16, 32, 64, 128, 288]),
        ((4, 8, 12, 16, 32, 512), [4, 8, 16, 32, 64, 128, 256, 512]),
        ((6, 7), [6]),
        ((1, 4, 288, 2048), [1, 4, 16, 64, 288, 2048]),
    ],
)
def test_ticks_of_ranks_keep_apart(ranks, ticks):
    axes = Figure().add_subplot()
    rank_axis(axes, ranks)
    assert axes.get_xticks().tolist() == ticks
    assert axes.get_xlabel() == "rank of what enters the LM head"


@pytest.mark.parametrize(
    ("last", "options", "labels"),
    [
        (900, {}, ["0", "1", "4", "16", "64", "256"]),
        (900, {"narrow": True}, ["0", "1", "16", "256"]),
        (100_000, {}, ["0", "1", "10", "100", "1k", "10k", "100k"]),
        (100_000, {"narrow": True}, ["0", "1", "100", "10k"]),
        (0, {"beyond": 12}, ["no step"]),
    ],
)
def test_ticks_of_steps(last, options, labels):
    axes = Figure().add_subplot()
    step_axis(axes, last, **options)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == labels


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml")])
def test_equal_tables_give_equal_files(tmp_path, name, start):
    first, second = tmp_path / "a" / name, tmp_path / "b" / name
    for path in (first, second):
        write_figure(script.draw(costs()), [path])
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()
    assert b"dc:date" not in first.read_bytes()


def test_drawing_leaves_matplotlib_as_it_was():
    before = dict(mpl.rcParams)
    script.draw(costs())
    assert dict(mpl.rcParams) == before


def test_script_reads_what_the_table_wrote(tmp_path):
    costs().to_csv(tmp_path / "t.csv", index=False)
    output = [tmp_path / "f.png", tmp_path / "f.svg"]
    script.main(SimpleNamespace(input=[tmp_path / "t.csv"], output=output))
    assert all(path.stat().st_size > 10_000 for path in output)
