"""Three ways to impose a rank: losses against direct computation, and what people read."""

import numpy as np
import pandas as pd
import pytest
import torch
from made_scores import write_scores
from step_jobs import job as step_job
from step_jobs import outputs, write_logits
from torch.nn.functional import cross_entropy

from oversmoothing.numerics.statistics import Summary, WindowSums, share_of_difference
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.losses import predictions
from oversmoothing.tables.record import read_record
from studies.imposed_rank import show
from studies.imposed_rank.table import SHARE, imposed_rank_page, imposed_rank_table, shares_of_cost

MODELS = [
    {"model": "bn4-s1", "kind": "family", "rank": 4, "seed": 1},
    {"model": "bn32-s1", "kind": "family", "rank": 32, "seed": 1},
    {"model": "svd4-s1", "kind": "svd", "rank": 4, "seed": 1},
    {"model": "svd8-s1", "kind": "svd", "rank": 8, "seed": 1},
    {"model": "ab4-s1", "kind": "retrained", "rank": 4, "seed": 1},
    {"model": "ab8-s1", "kind": "retrained", "rank": 8, "seed": 1},
    {"model": "ln4-s1", "kind": "normed", "rank": 4, "seed": 1},
    {"model": "ln8-s1", "kind": "normed", "rank": 8, "seed": 1},
]
METRICS = AGAINST_TRUTHS
TRUTHS = ("truth", "other")
SURER = {"bn32-s1": 6.0, "ab4-s1": 3.0, "ln4-s1": 4.0}  # of what follows, than the other models are


def values_of(model, metric, truth):
    """Made-up scores: no two files have the same."""
    seed = sum(map(ord, model + metric + truth))
    return np.random.default_rng(seed).random((3, 5)).astype(np.float32)


@pytest.fixture
def job(tmp_path):
    """Logits and scores of `MODELS`, of 3 windows of 5 bytes."""
    draw, names = np.random.default_rng(0), [model["model"] for model in MODELS]
    logits, scores = [], []
    for name in names:
        target = draw.integers(0, 8, (3, 5))
        drawn = draw.normal(0, 3, (3, 5, 8)) + SURER.get(name, 0.0) * np.eye(8)[target]
        windows = (dict(enumerate(rows)) for rows in (drawn.astype(np.float32), target))
        logits.append(write_logits(tmp_path / f"logits/{name}.parquet", *windows))
        for metric in METRICS:
            rows = [
                row
                for window in range(3)
                for truth in TRUTHS
                for row in (
                    (window, truth, "pure", values_of(name, metric, truth)[window]),
                    (window, truth, "greedy", np.full(5, 9.0)),
                )
            ]
            scores.append(write_scores(tmp_path / f"scores/{metric}/{name}.parquet", rows))
    settings = {"models": MODELS, "truth": "truth", "resamples": 50, "seed": 1, "unit": "byte"}
    return step_job({"logits": logits, "scores": scores}, outputs(tmp_path), settings)


def test_losses_are_those_of_pytorch_and_large_logits_do_not_overflow(tmp_path):
    draw = np.random.default_rng(1)
    logits, target = draw.normal(0, 300, (4, 6, 8)).astype(np.float32), draw.integers(0, 8, (4, 6))
    logits[0, 0] = 5  # all tokens tie, and the first is taken
    target[0, 0] = 0
    write_logits(tmp_path / "l.parquet", dict(enumerate(logits)), target)
    sums = predictions(tmp_path / "l.parquet")
    direct = cross_entropy(torch.from_numpy(logits).double().flatten(0, 1), torch.from_numpy(target).flatten())
    assert sums.losses.mean == pytest.approx(float(direct), rel=1e-9)
    assert sums.right.mean == pytest.approx((logits.argmax(axis=2) == target).mean())
    assert sums.losses.count == dict.fromkeys(range(4), 6)


def test_the_table_has_every_way_and_measure_from_its_file(job):
    show.main(job)
    table = read_record(job.output.csv)
    shares = table[table.measure == SHARE].set_index("model")
    assert len(table) == len(MODELS) * (2 + len(METRICS) * len(TRUTHS)) + len(shares)
    assert list(table["rank"].unique()) == [4, 8, 32]
    assert list(table.kind[table["rank"] == 4].unique()) == ["family", "svd", "retrained", "normed"]
    row = table[(table.model == "ab8-s1") & (table.measure == "kl") & (table.truth == "other")].iloc[0]
    assert row.value == pytest.approx(values_of("ab8-s1", "kl", "other").mean(), rel=1e-5)  # pure, not greedy
    assert row.low <= row.value <= row.high
    loss = table[(table.model == "svd4-s1") & (table.measure == "loss")].iloc[0]
    assert pd.isna(loss.truth)
    assert loss.value == pytest.approx(predictions(job.input.logits[2]).losses.mean, rel=1e-5)
    scratch, full, *_, plain, _, normed, _ = (predictions(path).losses.mean for path in job.input.logits)
    assert list(shares.index) == ["ab4-s1", "ln4-s1"]  # no member of the family has rank 8
    expected = [(plain - full) / (scratch - full), (normed - full) / (scratch - full)]
    np.testing.assert_allclose(shares.value, expected, rtol=1e-4)
    assert ((shares.low < shares.value) & (shares.value < shares.high)).all()
    page = job.output.markdown.read_text()
    assert all(words in page for words in ("Against `truth`", "Against `other`", "Godey", "**"))
    assert all(path.stat().st_size > 5000 for path in (job.output.png, job.output.svg))


def summary(mean):
    return Summary(mean, 0.1, 100, mean - 0.01, mean + 0.01)


def made_up(models):
    """A table of numbers that fall with the rank, and accuracies that rise; truncated heads are the worst."""
    summaries = {}
    for model in models:
        of_kind = {"family": 1.0, "svd": 1.2, "retrained": 0.8, "normed": 0.9, "full_head": 0.7}[model["kind"]]
        worse = of_kind / model["rank"] ** 0.3
        summaries[model["model"], "loss", None] = summary(2 * worse)
        summaries[model["model"], "accuracy", None] = summary(1 - worse / 1.3)
        for metric in METRICS:
            summaries[model["model"], metric, "truth"] = summary(worse)
        if model["kind"] in ("retrained", "normed") and model["rank"] == 4:
            summaries[model["model"], SHARE, None] = Summary(worse, np.nan, 100, worse - 0.01, worse + 0.01)
    return imposed_rank_table(summaries, models)


def test_the_best_way_of_a_rank_is_bold_and_one_way_alone_is_not():
    page = markdown(imposed_rank_page(made_up(MODELS), "T"))
    rows = [line for line in page.splitlines() if line.startswith(("| 4", "| 8", "| 32"))]
    best = 2 + len(METRICS)  # loss, accuracy and the metrics
    assert [line.count("**") // 2 for line in rows] == [0, 0, best, 0, 0, best, 0, 0]
    assert "retrained" in rows[2]
    shares = [line.split("|")[4].strip() for line in rows]
    assert shares[0] == shares[1] == shares[4] == "-"  # a share is a retrained head's, and not of every rank
    assert shares[2] == "0.528 [0.518, 0.538]"
    assert "seed" not in page.split("\n\n")[2]


@pytest.mark.parametrize("kinds", [("family", "svd"), ("family", "retrained"), ("family", "normed")])
def test_fewer_ways_make_a_table_and_a_figure_of_fewer(kinds):
    models = [model for model in MODELS if model["kind"] in kinds]
    table = made_up(models)
    assert table.kind.nunique() == len(kinds)
    page = markdown(imposed_rank_page(table, "T"))
    assert ("A B" in page) == ("retrained" in kinds)
    assert ("with a LayerNorm between them" in page) == ("normed" in kinds)
    assert (
        ("| share of the cost" in page) == ("one training seed" in page) == bool({"retrained", "normed"} & set(kinds))
    )
    assert ("smallest singular values" in page) == ("svd" in kinds)
    figure = show.draw(table, "truth")
    assert [len(axes.lines) for axes in figure.axes] == [1 + len(kinds)] * (2 + len(METRICS))


def test_heads_on_other_trunks_stand_in_the_table_and_in_a_figure_of_their_own():
    other = {"model": "full4-s1", "kind": "full_head", "rank": 4, "seed": 1}
    table = made_up([*MODELS, other])
    page = markdown(imposed_rank_page(table, "T"))
    assert "| full head retrained on the trunk of that rank |" in page
    assert [len(axes.lines) for axes in show.draw(table, "truth").axes] == [5] * (2 + len(METRICS))


def sums(values):
    """Values (windows, n) by window."""
    return WindowSums.of(np.repeat(np.arange(len(values)), values.shape[1]), values.ravel())


def test_a_share_is_that_of_the_means_with_the_same_windows_in_every_draw():
    draw = np.random.default_rng(0)
    full = draw.normal(size=(40, 25)) + 5 * draw.normal(size=(40, 1))  # some windows are harder than others
    cost = draw.normal(1, 0.5, (40, 25))
    exact = share_of_difference(sums(full + 0.3 * cost), sums(full + cost), sums(full), 200, 1)
    assert exact == pytest.approx((0.3, 0.3, 0.3), abs=1e-6)
    other = draw.normal(0.4, 0.5, (40, 25))
    share, low, high = share_of_difference(sums(full + other), sums(full + cost), sums(full), 4000, 1)
    assert share == pytest.approx(other.mean() / cost.mean())
    picks = np.random.default_rng(9).integers(0, 40, (4000, 40))
    by_hand = other.mean(axis=1)[picks].mean(axis=1) / cost.mean(axis=1)[picks].mean(axis=1)
    assert (low, high) == pytest.approx(tuple(np.quantile(by_hand, [0.025, 0.975])), abs=0.01)


@pytest.mark.parametrize("cost", [0.0, -1.0, 0.02])
def test_there_is_no_share_of_a_cost_that_may_be_none(cost):
    """None at all, a gain, and one that is small beside what windows differ by."""
    draw = np.random.default_rng(0)
    full, noise = draw.normal(size=(10, 20)), draw.normal(0, 1 if cost > 0 else 0, (10, 1))
    scratch, own = sums(full + cost + noise), sums(full + 0.01)
    assert np.isnan(share_of_difference(own, scratch, sums(full), 200, 1)).all()
    losses = {"bn32-s1": sums(full), "bn4-s1": scratch, "ab4-s1": own, "ab32-s1": own}
    models = [*MODELS[:2], MODELS[4], {**MODELS[4], "model": "ab32-s1", "rank": 32}]
    assert shares_of_cost(losses, models, 200, 1) == {}
    whole = shares_of_cost({**losses, "bn4-s1": sums(full + 1)}, models, 200, 1)
    assert list(whole) == [("ab4-s1", SHARE, None)]  # rank 32 is the full model's own, and costs nothing
    assert whole["ab4-s1", SHARE, None].mean == pytest.approx(0.01)
    one = share_of_difference(sums(full[:1] + 0.5), sums(full[:1] + 1), sums(full[:1]), 200, 1)
    assert np.isnan(one).all()  # one window has no interval


def test_several_seeds_have_rows_of_their_own_and_one_line():
    again = [{**model, "model": model["model"].replace("s1", "s2"), "seed": 2} for model in MODELS]
    table = made_up([*MODELS, *again])
    page = markdown(imposed_rank_page(table, "T"))
    assert "| rank   | seed   | way" in page
    figure = show.draw(table, "truth")
    assert len(figure.axes[0].lines) == 5
    assert "one training seed" not in page


def test_the_figure_shows_the_numbers_of_the_table():
    table = made_up(MODELS)
    figure = show.draw(table, "truth")
    full, scratch, truncated, retrained, normed = figure.axes[0].lines
    means = table[table.measure == "loss"].set_index("model").value
    assert full.get_ydata()[0] == means["bn32-s1"]
    assert list(scratch.get_xdata()) == [4, 32]
    assert list(truncated.get_ydata()) == [means["svd4-s1"], means["svd8-s1"]]
    assert list(retrained.get_ydata()) == [means["ab4-s1"], means["ab8-s1"]]
    assert list(normed.get_ydata()) == [means["ln4-s1"], means["ln8-s1"]]
    assert len({(line.get_color(), line.get_marker()) for line in figure.axes[0].lines}) == 5
