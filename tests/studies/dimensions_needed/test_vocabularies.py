"""Dimensions of vocabularies: ranks between those measured, shares of what is added, joins, and words, by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from default_config import default
from scipy.special import softmax

from oversmoothing.forced.projection import project
from oversmoothing.jobs import UserError
from oversmoothing.models.heads import ModelHead
from oversmoothing.tables.record import chosen, record
from plan.run import Run
from studies.dimensions_needed.figure import draw
from studies.dimensions_needed.finding import grows, ranks_needed
from studies.dimensions_needed.measure import columns_of, cut
from studies.dimensions_needed.plan import fit_settings, head, mistakes, tables, truth, truth_head
from studies.dimensions_needed.table import crossing, growths, joined, one_vocabulary, vocabularies_page

RANKS = (4, 16, 64)
BEST = {4: 0.4, 16: 0.04, 64: 0.004}  # a straight line in logarithms: -log 10 / log 4 of both
KL = {4: 0.9, 16: 0.5, 64: 0.4}
WINDOWS, POSITIONS = 6, 3


def measured(vocabulary=1024, scale=1.0, trained=True):
    """Rows of each rank: windows differ by a factor, whose mean over held windows is 1, as over those fitted to."""
    by_rank = {}
    for rank in RANKS:
        rows = []
        for window in range(WINDOWS):
            factor = (0.5, 1.0, 1.5)[window // 2]
            fitted = window % 2 == 0
            best = BEST[rank] * scale * factor * (0.5 if fitted else 1)
            own = {"trained": 2 * best, "kl": KL[rank] * factor} if trained and not fitted else {}
            row = {"window": window, "fitted": fitted, "best": best, "gap": 1e-10, "vocabulary": vocabulary, **own}
            rows += [
                {**row, "position": i, "other_start": 1.1 * best if fitted else math.nan} for i in range(POSITIONS)
            ]
        by_rank[rank] = pd.DataFrame(rows, columns=[*rows[0], *({"trained", "kl"} - {*rows[0]})])
    return by_rank


@pytest.fixture
def table():
    members = {rank: f"bn{rank}-s1" for rank in RANKS}
    return one_vocabulary(measured(), members, "truth", 200, 1)


def one(table, **where):
    (row,) = chosen(table, **where).to_dict("records")
    return row


def test_a_rank_between_two_lies_on_a_line_in_logarithms():
    """From 4 to 16 dimensions 0.4 falls to 0.04: half way, in logarithms, are 8 dimensions and 0.4 / sqrt(10)."""
    forced = np.array([0.4, 0.04, 0.004])
    assert crossing(RANKS, forced, 0.4 / math.sqrt(10)) == pytest.approx(8)
    assert crossing(RANKS, forced, 0.04) == pytest.approx(16)
    assert crossing(RANKS, forced, 0.001) == math.inf
    assert crossing(RANKS, forced, 0.5) == 0
    assert crossing(RANKS, np.array([0.4, 0.04, 0.0]), 1e-6) < 64  # what is 0 counts as `KNOWN`


def test_needed_ranks_have_intervals_over_windows_and_words_where_they_lie_beyond(table):
    row = one(table, measure="needed_0.1")
    assert row["value"] == pytest.approx(4 * 4 ** math.log10(4))
    # The held windows have factors of 0.5 to 1.5, which move the line up or down.
    low, high = (4 * 4 ** math.log10(4 * factor) for factor in (0.5, 1.5))
    assert low - 1e-9 <= row["low"] < row["value"] < row["high"] <= high + 1e-9
    assert row["unit"] == "dimensions"
    above = one(table, measure="needed_0.001")
    assert math.isnan(above["value"])
    assert above["note"] == "more than 64"
    fitted = one(table, measure="needed_where_fitted_0.1")
    assert fitted["value"] == pytest.approx(4 * 4 ** math.log10(2))
    trained = one(table, measure="needed_of_trained_0.1")
    assert trained["value"] == pytest.approx(4 * 4 ** math.log10(8))
    easy = one_vocabulary(measured(scale=0.1, trained=False), {}, "truth", 200, 1)
    assert one(easy, measure="needed_0.1")["note"] == "at most 4"
    assert chosen(easy, measure="needed_of_trained_0.1").empty
    partly = one(one_vocabulary(measured(scale=0.2), {}, "truth", 200, 1), measure="needed_0.1")
    assert partly["note"] == "at most 4 [at most 4, 4]"
    assert math.isnan(partly["low"])
    assert partly["high"] == pytest.approx(4 * 4 ** math.log10(0.4 * 0.2 * 1.5 / 0.1), rel=0.2)


def test_levels_and_what_a_rank_adds_by_hand(table):
    assert one(table, measure="best", rank=4)["value"] == pytest.approx(0.4)
    assert one(table, measure="fitted", rank=4)["value"] == pytest.approx(0.2)
    assert one(table, measure="other_start", rank=4)["value"] == pytest.approx(0.22)
    assert one(table, measure="trained", rank=4)["model"] == "bn4-s1"
    assert one(table, measure="best", rank=4)["n"] == WINDOWS // 2 * POSITIONS
    added = one(table, measure="added", rank=4)
    assert added["value"] == pytest.approx(0.5)
    assert added["less"] == "rank 64"
    assert one(table, measure="best_of_added", rank=4)["value"] == pytest.approx((0.4 - 0.004) / 0.5)
    assert one(table, measure="trained_of_added", rank=4)["value"] == pytest.approx(2 * (0.4 - 0.004) / 0.5)
    assert chosen(table, measure="added", rank=64).empty


def others(*vocabularies):
    """Records of other vocabularies, whose heads force less by a power of v: ranks grow as v to the power 0.5."""
    return {
        f"{v}.csv": one_vocabulary(measured(v, (v / 1024) ** (math.log(10) / math.log(4) / 2)), {}, "truth", 200, 1)
        for v in vocabularies
    }


def test_several_vocabularies_stand_in_one_table_with_how_the_rank_grows(table):
    both = joined(table, others(4096, 256))
    assert chosen(both, measure="needed_0.1").vocabulary.tolist() == [256, 1024, 4096]
    row = one(both, measure="growth_0.1")
    assert row["value"] == pytest.approx(0.5, abs=1e-6)
    assert row["low"] == pytest.approx(row["high"], abs=1e-5)  # all lie on the line
    assert row["n"] == 3
    assert joined(table, {}).equals(record(table))
    assert not list(growths(joined(table, others(4096))))  # two points are a line, whatever they are


def test_how_far_vocabularies_lie_from_the_line_is_in_the_interval():
    ranks = {256: 8.0, 1024: 20.0, 4096: 30.0}
    rows = [{"truth": "t", "vocabulary": v, "measure": "needed_0.1", "value": r} for v, r in ranks.items()]
    (row,) = growths(record(rows))
    x, y = np.log2([256, 1024, 4096]), np.log2([8, 20, 30])
    slope, cut_at = np.polyfit(x, y, 1)
    error = math.sqrt(((y - slope * x - cut_at) ** 2).sum() / ((x - x.mean()) ** 2).sum())
    assert row["value"] == pytest.approx(slope)
    assert row["high"] - row["value"] == pytest.approx(
        12.7062 * error, rel=1e-4
    )  # Student's t of one degree of freedom


def test_a_target_beyond_the_ranks_of_one_vocabulary_has_no_growth():
    ranks = {256: 8.0, 1024: 20.0, 4096: 30.0, 8192: None}
    rows = [{"truth": "t", "vocabulary": v, "measure": "needed_0.1", "value": r} for v, r in ranks.items()]
    assert not list(growths(record(rows)))


def test_a_vocabulary_stands_there_once_and_another_table_is_refused(table):
    with pytest.raises(UserError, match=r"1024\.csv: 1,024 tokens of truth are those of this config, too"):
        joined(table, others(1024))
    with pytest.raises(UserError, match=r"forced\.csv: no table of vocabularies"):
        joined(table, {"forced.csv": record([{"measure": "kl", "value": 1.0}])})


def test_page_figure_and_sentences_name_what_is_there(table):
    both = joined(table, others(4096, 256))
    page = vocabularies_page(both)
    assert [section.heading for section in page.sections][-1] == "4,096 tokens, against `truth`: forced, nats"
    needs = {(row["tokens"], row["head"]): row for row in page.sections[0].rows}
    assert needs["1,024", "best head found, held out"]["0.001 nats"].startswith("more than 64")
    assert ("256", "trained head") in needs
    axes = draw(both).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [len(curve[0].get_xdata()) for curve in axes.containers] == [3] * 9  # three curves of each
    sentences = [*ranks_needed(both)]
    assert len(sentences) == 3
    assert "Over 1,024 tokens, against the truth, the best head found needs this rank: for 0.1 nats 9 [" in sentences[1]
    assert "for 0.001 nats more than 64" in sentences[1]
    assert "to the power 0.50 [0.50, 0.50], over 3 vocabularies" in next(grows(both))


def test_the_second_start_spans_the_leading_directions_of_a_head():
    """A head of rank 3 in 8 columns, cut to 3, gives the same distributions; to 2 it gives fewer."""
    draw_ = np.random.default_rng(0)
    weights = draw_.normal(size=(20, 3)) @ draw_.normal(size=(3, 8))
    p = np.exp(draw_.normal(size=(5, 8)) @ weights.T)
    p /= p.sum(axis=1, keepdims=True)
    assert cut(weights, 3).shape == (20, 3)
    assert project(cut(weights, 3), p).forced.max() < 1e-8
    assert project(cut(weights, 2), p).forced.min() > 1e-6


def config(**section):
    family = [{"rank": 4}, {"rank": 288}]
    return default(family=family, dimensions_needed={"ranks": [4, 8], "per_column": 10, "least": 64, **section})


def test_a_bias_is_one_more_column_within_whose_span_nothing_is_forced_of_its_own_model():
    rng = np.random.default_rng(0)
    weights, bias, hidden = rng.normal(size=(9, 3)), rng.normal(size=9), rng.normal(size=(4, 3))
    np.testing.assert_array_equal(columns_of(ModelHead(weights)), weights)
    columns = columns_of(ModelHead(weights, bias=bias))
    p = softmax(hidden @ weights.T + bias, axis=1)
    assert (project(columns, p).forced < 1e-12).all()
    assert (project(weights, p).forced > 1e-3).all()


def test_the_plan_takes_the_trained_head_of_a_rank_or_else_the_truths():
    run = Run(config())
    assert head(run, 4) == "results/models/bn4-s1337/weights.safetensors"
    assert head(run, 8) == "results/models/truth/weights.safetensors"
    assert fit_settings(run.config, 4)["trained"]
    assert not fit_settings(run.config, 8)["trained"]
    assert truth_head(run) == head(run, 8)
    (table,) = tables(run)
    assert table.inputs["measured"] == ["results/dimensions_needed/4.parquet", "results/dimensions_needed/8.parquet"]
    assert list(tables(Run(config(ranks=[])))) == []


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"ranks": [8, 4]}, r"do not increase; sort them"),
        ({"ranks": [4, 288]}, r"288, but the head of truth has 288 columns"),
        ({"ranks": [4, 64], "per_column": 200}, r"12800 positions, and every other window has 10000 together"),
    ],
)
def test_mistakes_name_the_key(section, message):
    (found,) = mistakes(config(**section))
    assert message in found
    assert found.startswith("dimensions_needed.")


def test_the_truth_is_the_first_whose_head_is_known():
    """Over bytes the logits of a model of the hub are stored, and no head; a byte view has none."""
    hub = {"hub": "owner/name", "layout": "causal_lm", "byte_offset": 3}
    truths = [{"name": "hub", **hub}, {"name": "own", "model": {}}]
    assert truth(default(truths=truths)).name == "own"
    section = {"dimensions_needed": {"ranks": [4], "per_column": 10, "least": 64}}
    (found,) = mistakes(default(truths=truths[:1], **section))
    assert "no truth has a head" in found
    over_tokens = default(tokens={"tokenizer": "owner/name"}, truths=[{"name": "hub", "hub": "owner/name"}], **section)
    assert head(Run(over_tokens), 5) == "results/logits/hub.head.safetensors"
