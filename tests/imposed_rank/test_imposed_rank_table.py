"""Three ways to impose a rank: losses against direct computation, and what people read."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from torch.nn.functional import cross_entropy

import imposed_rank_figure as figure_script
import imposed_rank_table as script
from oversmoothing.figures.imposed_rank import imposed_rank_figure
from oversmoothing.imposed_rank.table import imposed_rank_table, write_pages
from oversmoothing.logits import logits_schema, window_keys
from oversmoothing.losses import predictions
from oversmoothing.scores import SCORES, ScoreRows
from oversmoothing.statistics import Summary
from oversmoothing.store.parquet import open_writer, vector_array

MODELS = [
    {"model": "bn4-s1", "kind": "family", "rank": 4, "seed": 1},
    {"model": "bn32-s1", "kind": "family", "rank": 32, "seed": 1},
    {"model": "svd4-s1", "kind": "svd", "rank": 4, "seed": 1},
    {"model": "svd8-s1", "kind": "svd", "rank": 8, "seed": 1},
    {"model": "ab4-s1", "kind": "retrained", "rank": 4, "seed": 1},
    {"model": "ab8-s1", "kind": "retrained", "rank": 8, "seed": 1},
]
METRICS = ("tto", "nsmd", "tv", "kl")
TRUTHS = ("truth", "other")


def write_logits(path, logits, target):
    """Write windows of logits (windows, s, v) and targets (windows, s)."""
    schema = logits_schema(logits.shape[2])
    with open_writer(path, schema, {}) as writer:
        for window, (own, following) in enumerate(zip(logits, target, strict=True)):
            columns = [*window_keys(window, following), vector_array(own)]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def values_of(model, metric, truth):
    """Made-up scores: no two files have the same."""
    seed = sum(map(ord, model + metric + truth))
    return np.random.default_rng(seed).random((3, 5)).astype(np.float32)


@pytest.fixture
def job(tmp_path):
    """Logits and scores of `MODELS`, of 3 windows of 5 bytes."""
    draw = np.random.default_rng(0)
    inputs = SimpleNamespace(logits=[], scores=[])
    for model in MODELS:
        path = tmp_path / f"logits/{model['model']}.parquet"
        path.parent.mkdir(exist_ok=True)
        write_logits(path, draw.normal(0, 3, (3, 5, 8)).astype(np.float32), draw.integers(0, 8, (3, 5)))
        inputs.logits.append(path)
        for metric in METRICS:
            path = tmp_path / f"scores/{metric}/{model['model']}.parquet"
            path.parent.mkdir(exist_ok=True, parents=True)
            with open_writer(path, SCORES, {}) as writer:
                rows = ScoreRows(writer)
                for window in range(3):
                    for truth in TRUTHS:
                        rows.add(window, truth, "pure", values_of(model["model"], metric, truth)[window])
                        rows.add(window, truth, "greedy", np.full(5, 9.0))
                rows.flush()
            inputs.scores.append(path)
    output = SimpleNamespace(**{kind: tmp_path / f"t.{kind}" for kind in ("csv", "html", "latex")})
    output.markdown = tmp_path / "t.md"
    settings = {"models": MODELS, "resamples": 50, "seed": 1}
    return SimpleNamespace(input=inputs, output=output, params=SimpleNamespace(settings=settings))


def test_losses_are_those_of_pytorch_and_large_logits_do_not_overflow(tmp_path):
    draw = np.random.default_rng(1)
    logits, target = draw.normal(0, 300, (4, 6, 8)).astype(np.float32), draw.integers(0, 8, (4, 6))
    logits[0, 0] = 5  # all tokens tie, and the first is taken
    target[0, 0] = 0
    write_logits(tmp_path / "l.parquet", logits, target)
    sums = predictions(tmp_path / "l.parquet")
    direct = cross_entropy(torch.from_numpy(logits).double().flatten(0, 1), torch.from_numpy(target).flatten())
    assert sums.losses.mean == pytest.approx(float(direct), rel=1e-9)
    assert sums.right.mean == pytest.approx((logits.argmax(axis=2) == target).mean())
    assert sums.losses.count == dict.fromkeys(range(4), 6)


def test_the_table_has_every_way_and_measure_from_its_file(job):
    script.main(job)
    table = pd.read_csv(job.output.csv)
    assert len(table) == len(MODELS) * (2 + len(METRICS) * len(TRUTHS))
    assert list(table["rank"].unique()) == [4, 8, 32]
    assert list(table.way[table["rank"] == 4].unique()) == ["learned from scratch", "truncated", "retrained"]
    row = table[(table.model == "ab8-s1") & (table.measure == "kl") & (table.truth == "other")].iloc[0]
    assert row["mean"] == pytest.approx(values_of("ab8-s1", "kl", "other").mean(), rel=1e-5)  # pure, not greedy
    assert row.low <= row["mean"] <= row.high
    loss = table[(table.model == "svd4-s1") & (table.measure == "loss")].iloc[0]
    assert pd.isna(loss.truth)
    assert loss["mean"] == pytest.approx(predictions(job.input.logits[2]).losses.mean, rel=1e-5)
    page = job.output.markdown.read_text()
    assert "Against `truth`" in page
    assert "Against `other`" in page
    assert "Godey" in page
    assert "**" in page
    assert r"\textbf" in job.output.latex.read_text() or r"\mathbf" in job.output.latex.read_text()


def summary(mean):
    return Summary(mean, 0.1, 100, mean - 0.01, mean + 0.01)


def made_up(models):
    """A table of numbers that fall with the rank, and accuracies that rise; truncated heads are the worst."""
    summaries = {}
    for model in models:
        worse = {"family": 1.0, "svd": 1.2, "retrained": 0.8}[model["kind"]] / model["rank"] ** 0.3
        summaries[model["model"], "loss", None] = summary(2 * worse)
        summaries[model["model"], "accuracy", None] = summary(1 - worse / 1.3)
        for metric in METRICS:
            summaries[model["model"], metric, "truth"] = summary(worse)
    return imposed_rank_table(summaries, models)


def test_the_best_way_of_a_rank_is_bold_and_one_way_alone_is_not(tmp_path):
    write_pages(made_up(MODELS), [tmp_path / "t.md"], "T")
    rows = [line for line in (tmp_path / "t.md").read_text().splitlines() if line.startswith(("| 4", "| 8", "| 32"))]
    assert [line.count("**") // 2 for line in rows] == [0, 0, 6, 0, 6, 0]
    assert "retrained" in rows[2]
    assert "seed" not in (tmp_path / "t.md").read_text().split("\n\n")[3]


@pytest.mark.parametrize("kinds", [("family",), ("family", "svd"), ("family", "retrained")])
def test_fewer_ways_make_a_table_and_a_figure_of_fewer(tmp_path, kinds):
    models = [model for model in MODELS if model["kind"] in kinds]
    table = made_up(models)
    assert table.way.nunique() == len(kinds)
    write_pages(table, [tmp_path / "t.md"], "T")
    page = (tmp_path / "t.md").read_text()
    assert ("A B" in page) == ("retrained" in kinds)
    assert ("smallest singular values" in page) == ("svd" in kinds)
    figure = imposed_rank_figure(table, "truth")
    assert [len(axes.lines) for axes in figure.axes] == [1 + len(kinds)] * 6


def test_several_seeds_have_rows_of_their_own_and_one_line(tmp_path):
    again = [{**model, "model": model["model"].replace("s1", "s2"), "seed": 2} for model in MODELS]
    table = made_up([*MODELS, *again])
    write_pages(table, [tmp_path / "t.md"], "T")
    assert "| rank   | seed   | way" in (tmp_path / "t.md").read_text()
    figure = imposed_rank_figure(table, "truth")
    assert len(figure.axes[0].lines) == 4


def test_the_figure_shows_the_numbers_of_the_table(job, tmp_path):
    table = made_up(MODELS)
    figure = imposed_rank_figure(table, "truth")
    full, scratch, truncated, retrained = figure.axes[0].lines
    means = table[table.measure == "loss"].set_index("model")["mean"]
    assert full.get_ydata()[0] == means["bn32-s1"]
    assert list(scratch.get_xdata()) == [4, 32]
    assert list(truncated.get_ydata()) == [means["svd4-s1"], means["svd8-s1"]]
    assert list(retrained.get_ydata()) == [means["ab4-s1"], means["ab8-s1"]]
    script.main(job)
    outputs = [tmp_path / "f.png", tmp_path / "f.svg"]
    params = SimpleNamespace(settings={"truth": "truth"})
    figure_script.main(SimpleNamespace(input=[job.output.csv], output=outputs, params=params))
    assert all(path.stat().st_size > 5000 for path in outputs)
