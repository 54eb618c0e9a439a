"""The table of frontiers, its page and its figure, from made sums and in the workflow's plan."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from default_config import default

import plan
from checks.config import check
from oversmoothing.bat.basis import prepare
from oversmoothing.measures.cuts import FIRST, LAST
from oversmoothing.measures.entries.frontier import METHODS
from oversmoothing.measures.frontiers import Frontiers
from oversmoothing.models.logit_files import WindowLogits
from oversmoothing.scores.probabilities import softmax
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.record import chosen, facts, record
from studies.cut_frontier import measure as step
from studies.cut_frontier.finding import verdicts
from studies.cut_frontier.measure import batches, sums
from studies.cut_frontier.show import draw, middle
from studies.cut_frontier.table import frontier_page

SETTINGS = {
    "tau": 0.9,
    "methods": {"min-p": [0.5, 0.2, 0.05], "top-k": [2, 5, 10], "p-less": []},
    "temperatures": [1, 2],
    "deltas": [0.2, 1.0],
}
MODEL = {"model": "bn3-s1", "kind": "family", "rank": 3, "seed": 1, "arm": "bn3"}


def frontiers(zeros=False):
    generator, windows = np.random.default_rng(0), []
    head = generator.normal(size=(24, 3))
    for window in range(8):
        truth = generator.normal(scale=3, size=(20, 24))
        if zeros:
            truth[:, :4] = -np.inf
        q = softmax(np.where(np.isinf(truth), -4, truth) + generator.normal(size=truth.shape))
        windows.append(WindowLogits(window, np.log(q), {"truth": truth}))
    return Frontiers(summed(windows, prepare(head)).to_pandas(), "min-p", 200, 0)


def summed(windows, basis, per_window=None):
    return pa.concat_tables([sums(batch, basis, SETTINGS) for batch in batches(windows, per_window)])


def table_of(of):
    return record(pd.DataFrame([{**facts(MODEL), "truth": "truth", **row} for row in of.rows()]))


@pytest.fixture(scope="module")
def made():
    return frontiers()


@pytest.fixture(scope="module")
def table(made):
    return table_of(made)


def value(table, decoding, less=None, temperature=2, order=FIRST, column="value", **where):
    return chosen(table, decoding=decoding, less=less, temperature=temperature, order=order, **where)[column].item()


def test_each_row_stands_there_once_and_settings_are_means_over_positions(made, table):
    assert not table.duplicated(["temperature", "order", "decoding", "less"]).any()
    assert value(table, "min-p") < value(table, "hindsight") < value(table, "oracle")
    points = made.points()
    oracle = points[points.method == "oracle"]
    assert oracle.leak.to_numpy() == pytest.approx(0, abs=1e-9)
    assert points.kept.between(points.low - 1e-12, points.high + 1e-12).all()
    sizes = points[(points.method == "top-k") & (points.temperature == 1)].set_index("parameter")["size"]
    assert sizes.to_dict() == {2: 2, 5: 5, 10: 10}


def test_windows_are_summed_apart_however_many_are_measured_at_once(monkeypatch):
    generator = np.random.default_rng(1)
    windows = [
        WindowLogits(i, generator.normal(size=(n, 24)), {t: generator.normal(size=(n, 24)) for t in ("a", "b")})
        for i, n in enumerate((7, 12, 12))
    ]
    together = summed(windows, None).to_pandas()
    monkeypatch.setattr(step, "ELEMENTS", 1)
    apart = summed(windows, None).to_pandas()
    pd.testing.assert_frame_equal(together, apart)
    assert together.groupby("window").n.first().tolist() == [7, 12, 12]
    assert [[len(one.model) for one in batch] for batch in batches(windows, 5)] == [[5], [5], [5]]


def test_the_order_matters_at_other_temperatures_alone(made, table):
    assert set(table[table.temperature == 1].order) == {FIRST}
    points = made.points().set_index(["temperature", "order", "method", "parameter"]).kept
    assert points[2, FIRST, "top-k", 5] == points[2, LAST, "top-k", 5]
    assert points[2, FIRST, "min-p", 0.2] != points[2, LAST, "min-p", 0.2]
    assert value(table, "top-k", FIRST, order=LAST) == pytest.approx(0, abs=1e-12)
    of_bat = table[table.decoding == "bat"]
    assert (of_bat.order == np.where(of_bat.temperature == 1, FIRST, LAST)).all()


def test_gains_are_differences_of_areas_or_at_the_one_setting(made, table):
    difference = value(table, "top-k") - value(table, "min-p")
    assert value(table, "top-k", "min-p", measure="area") == pytest.approx(difference)
    points = made.points()
    points = points[(points.temperature == 1) & points.method.isin(["p-less", "min-p", "greedy", "pure"])]
    rival = points[points.method != "p-less"].sort_values("leak")
    (leak,), (kept,) = (points[points.method == "p-less"][name] for name in ("leak", "kept"))
    expected = kept - np.interp(leak, rival.leak, np.maximum.accumulate(rival.kept))
    assert value(table, "p-less", "min-p", temperature=1, measure="kept") == pytest.approx(expected)


def test_impossible_tokens_are_measured_where_there_are_any(table):
    assert table.leak.isna().all()
    with_zeros = table_of(frontiers(zeros=True))
    assert value(with_zeros, "min-p", leak="impossible") > 0
    assert chosen(with_zeros, leak="impossible", decoding="hindsight").empty
    assert "mass on impossible bytes" in markdown(frontier_page(with_zeros, "min-p"))


def test_the_page_and_the_figure_show_each_method_and_law(made, table):
    points = made.points()
    panels = [axes.get_title(loc="left") for axes in draw(points[points.temperature == 2], "a", "min-p").axes]
    assert panels == ["min-p", "top-k", "p-less", "BAT"]
    more = pd.concat([points, *(points[points.method == "top-k"].assign(method=f"k{i}") for i in range(3))])
    figure = draw(more[more.temperature == 2], "a", "min-p")
    figure.draw_without_rendering()
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 7  # in rows of four
    numbered = [axes.get_title(loc="left") for axes in shown if axes.xaxis.get_tick_params()["labelbottom"]]
    assert numbered == [axes.get_title(loc="left") for axes in shown if axes.get_xlabel()] == ["BAT", "k0", "k1", "k2"]
    both = pd.concat([table.assign(law=law, truth="law") for law in ("full", "zeros")])
    text = markdown(frontier_page(both, "min-p"))
    assert all(f"`bn3-s1` against the law `{law}` at temperature 2" in text for law in ("full", "zeros"))
    pairs = [(law, model, "law") for law in ("full", "zeros") for model in ("bn4-s1", "bn8-s1", "bn16-s1")]
    assert middle(pairs, "zeros") == ("bn8-s1", "law")


def test_the_chapter_says_who_keeps_more_and_in_how_many_models(table):
    def said(gain, p):
        changed = table.assign(value=table.value.mask(table.less == "min-p", -0.1))
        (of_top_k,) = chosen(table, decoding="top-k", temperature=2, order=FIRST, less="min-p").index
        changed.loc[of_top_k, ["value", "p"]] = gain, p
        return list(verdicts(changed))

    kept = "more of the nucleus than min-p for the same leak."
    assert said(0.02, 0.01)[:2] == [
        f"At temperature 1 no method keeps {kept}",
        f"At temperature 2 top-k (1 of 1 models, by at most 0.020) keeps {kept}",
    ]
    assert said(0.02, 0.06)[1] == said(-0.02, 0.01)[1] == f"At temperature 2 no method keeps {kept}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": {"pure": []}}, "frontier.methods: 'pure' is no method that cuts; use some of "),
        ({"methods": {"p-less": [1]}}, "frontier.methods.p-less: it has no parameter; write []"),
        ({"methods": {"min-p": [0.1, 1.2]}}, "frontier.methods.min-p: 1.2 is not a number in (0, 1]"),
        ({"methods": {"min-p": [0.1]}}, "frontier.methods.min-p: a curve needs two values of min_p or more"),
        ({"reference": "p-less"}, "frontier.reference: 'p-less' is no curve in frontier.methods; use one of "),
        ({"deltas": [0.2]}, "frontier.deltas: a curve needs two values or more"),
    ],
)
def test_mistakes_name_their_key(changes, message):
    config = default()
    config["frontier"] |= changes
    assert any(message in mistake for mistake in plan.studies.mistakes(config))


def test_capped_logits_have_no_frontier_of_bat():
    members = [{"rank": 4}, {"name": "soft", "hub": "o/soft", "capped": True}]
    chosen = {"family": members, "truths": [{"name": "t", "hub": "o/t"}], "tokens": {"tokenizer": "o/soft"}}
    chosen |= {"svd_ranks": [8], "svd_of": "soft"}
    check(default(**chosen, frontier={"deltas": []}))
    with pytest.raises(plan.ConfigError, match=r"frontier\.deltas: BAT needs linear logits, and those of soft"):
        check(default(**chosen, frontier={"deltas": [0.1, 0.2]}))


def test_the_command_tries_the_values_of_the_study():
    assert default()["frontier"]["methods"] == METHODS
