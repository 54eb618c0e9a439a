"""What pages say of the kept run with five seeds is in its tables."""

import re

import numpy as np
import pytest
from kept_runs import INTERVAL, QUOTED, ROOT
from oversmoothing.claims.rank_order import order_of_ranks

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.store.layout import read_csv
from oversmoothing.tables.record import read_record
from studies.across_seeds.table import pseudo_values

RUN = ROOT / "resources/studies/seeds"


def passage(page, start, end):
    """Text of a page between two marks, on one line."""
    return " ".join((ROOT / page).read_text().partition(start)[2].partition(end)[0].split())


PASSAGES = {
    "README": passage("README.md", "across_seeds.png)", "\n2. "),
    "findings": passage("docs/findings.md", "## How much probability leaks", "The thesis has"),
}


@pytest.mark.parametrize("page", ["findings"])
def test_each_number_that_a_page_quotes_is_in_the_table(page):
    rows = read_record(RUN / "tables/across_seeds.csv").to_dict("records")
    known = {tuple(f"{row[name]:.3f}" for name in INTERVAL) for row in rows}
    quoted = QUOTED.findall(PASSAGES[page])
    assert len(quoted) > 3
    assert [interval for interval in quoted if interval not in known] == []
    scores = read_record(RUN / "tables/oversmoothing.csv")
    printed = {f"{value:.3f}" for value in scores.published.dropna()}
    numbers = set(re.findall(r"\b0\.\d{3}\b", PASSAGES[page])) - {"0.246", "0.005"}  # differences: see below
    numbers -= printed
    assert numbers <= {number.lstrip("-") for interval in known for number in interval}


def test_every_step_is_above_0_and_the_headline_says_so():
    steps = read_record(RUN / "tables/across_seeds.csv").query("measure == 'tto_step'")
    assert len(steps) == 7
    assert (steps.low > 0).all()
    assert order_of_ranks(read_csv(RUN / "tables/rank_order.csv")) == "The lower the rank, the more probability leaks"
    assert "**In these models, the lower the rank, the more probability leaks" in PASSAGES["README"]


def test_what_is_said_of_rank_4_and_of_the_truths():
    levels = read_record(RUN / "tables/across_seeds.csv").query("measure == 'tto' and kind == 'family'")
    pooled = levels[levels.truth.isna()].set_index("rank").value
    assert f"{pooled[4] - pooled[288]:.3f}" == "0.246"
    by_truth = levels.dropna(subset="truth").pivot_table(index="rank", columns="truth", values="value")
    assert 0.004 < (by_truth.max(axis=1) - by_truth.min(axis=1)).max() < 0.005


def test_every_rank_lies_above_the_floor_under_every_metric():
    scores, table = (read_record(RUN / f"tables/{name}.csv") for name in ("oversmoothing", "across_seeds"))
    by_seed = scores[scores.truth.notna()].pivot_table(index="seed", columns=["measure", "rank"], values="value")
    pairs = table[(table.note == "full models") & table.model.notna()]
    lowest = {}
    for metric in AGAINST_TRUTHS:
        square = pairs[pairs.measure == f"{metric}_floor"].pivot_table(index="model", columns="truth", values="value")
        floor = np.array(pseudo_values(square.to_numpy()))
        above = {rank: student_interval((by_seed[metric, rank] - floor).tolist()) for rank in by_seed[metric]}
        lowest[metric] = min(above.values(), key=lambda interval: interval[1])
    assert all(low > 0 for _, low, _ in lowest.values())
    assert "every rank lies above the floor under all four metrics" in PASSAGES["findings"]
    assert f"TTO of full rank by {lowest['tto'][0]:.3f}" in PASSAGES["findings"]
