"""The table of frontiers, its page and its figure, from made sums and in the workflow's plan."""

import numpy as np
import pandas as pd
import pytest
from default_config import default

import plan
from oversmoothing.bat.basis import prepare
from oversmoothing.scores.probabilities import softmax
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.record import facts, record
from studies.cut_frontier.figure import draw
from studies.cut_frontier.measure import measured
from studies.cut_frontier.page import frontier_page
from studies.cut_frontier.plane import Plane
from studies.cut_frontier.table import Frontiers

SETTINGS = {
    "methods": {"min-p": [0.5, 0.2, 0.05], "top-k": [2, 5, 10]},
    "temperatures": [1, 2],
    "deltas": [0.2, 1.0],
}
MODEL = {"model": "bn3-s1", "kind": "family", "rank": 3, "seed": 1, "arm": "bn3"}


def sums(zeros=False):
    generator, rows = np.random.default_rng(0), []
    head = generator.normal(size=(24, 3))
    for window in range(8):
        truth = generator.normal(scale=3, size=(20, 24))
        if zeros:
            truth[:, :4] = -np.inf
        q = softmax(np.where(np.isinf(truth), -4, truth) + generator.normal(size=truth.shape))
        made = measured({"truth": Plane(softmax(truth), 0.9)}, q, prepare(head), SETTINGS)
        rows += [{"window": window, "n": 20, **row} for _, row in made]
    return pd.DataFrame(rows)


def table_of(of):
    rows = Frontiers(of, "min-p", 200, 0).rows()
    return record(pd.DataFrame([{**facts(MODEL), "truth": "truth", **row} for row in rows]))


@pytest.fixture(scope="module")
def table():
    return table_of(sums())


def value(table, measure, decoding, temperature=2, order="temperature first", parameter=None):
    rows = table[(table.measure == measure) & (table.decoding == decoding) & (table.temperature == temperature)]
    rows = rows[(rows.order == order) & (rows.parameter.isna() if parameter is None else rows.parameter == parameter)]
    return rows.value.item()


def test_each_setting_stands_there_once_and_bounds_hold(table):
    keys = ["temperature", "order", "decoding", "parameter", "measure"]
    assert not table.duplicated(keys).any()
    assert value(table, "leak", "oracle") == pytest.approx(0, abs=1e-9)
    for name in ("min-p", "top-k"):
        assert value(table, "area", name) < value(table, "area", "hindsight") < value(table, "area", "oracle")


def test_the_order_matters_at_other_temperatures_alone(table):
    assert set(table[table.temperature == 1].order) == {"temperature first"}
    assert value(table, "kept", "top-k", parameter=5) == value(table, "kept", "top-k", order="cut first", parameter=5)
    first, last = (value(table, "kept", "min-p", order=o, parameter=0.2) for o in ("temperature first", "cut first"))
    assert first != last
    assert value(table, "order_gain", "top-k", order="cut first") == pytest.approx(0, abs=1e-12)


def test_gains_are_differences_of_areas(table):
    difference = value(table, "area", "top-k") - value(table, "area", "min-p")
    assert value(table, "gain", "top-k") == pytest.approx(difference)
    assert 0 <= value(table, "gain_p", "top-k") <= 1
    assert not ((table.measure == "gain") & (table.decoding == "min-p")).any()
    assert (
        table[table.decoding == "bat"].order
        == np.where(table[table.decoding == "bat"].temperature == 1, "temperature first", "cut first")
    ).all()


def test_impossible_tokens_are_measured_where_there_are_any(table):
    assert not table.measure.str.contains("impossible").any()
    with_zeros = table_of(sums(zeros=True))
    assert value(with_zeros, "impossible", "oracle") == 0
    assert value(with_zeros, "area_impossible", "min-p") > 0
    assert "mass on impossible bytes" in markdown(frontier_page(with_zeros, "min-p"))


def test_the_page_and_the_figure_show_each_method(table):
    text = markdown(frontier_page(table, "min-p"))
    assert "Compared with min-p" in text
    assert "nan" not in text
    panels = [axes.get_title(loc="left") for axes in draw(table, 2, None, "min-p").axes]
    assert panels == ["min-p", "top-k", "BAT"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": {"min-q": [0.1, 0.2]}}, "frontier.methods: 'min-q' is no method that cuts; use some of "),
        ({"methods": {"pure": []}}, "frontier.methods: 'pure' is no method that cuts"),
        ({"methods": {"min-p": [0.1, 1.2]}}, "frontier.methods.min-p: 1.2 is not a number in (0, 1]"),
        ({"methods": {"min-p": [0.1]}}, "frontier.methods.min-p: a curve needs two values of min_p or more"),
        ({"reference": "top-a"}, "frontier.reference: 'top-a' is no curve in frontier.methods; use one of "),
        ({"deltas": [0.2]}, "frontier.deltas: a curve needs two values or more"),
    ],
)
def test_mistakes_name_their_key(changes, message):
    config = default()
    config["frontier"] |= changes
    assert any(message in mistake for mistake in plan.studies.mistakes(config))


def test_the_default_has_none_of_them():
    assert not [mistake for mistake in plan.studies.mistakes(default()) if "frontier" in mistake]
