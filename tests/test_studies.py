"""The studies that are kept: the code still reads them, comes to the same tables, and pages quote what is in them."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from default_config import default
from scipy import stats

import gradient_figure
import imposed_rank_figure
import paired_ranks_figure
from checks.config import check
from oversmoothing.claims.claims import DISPUTE
from oversmoothing.claims.gradient import Arms
from oversmoothing.claims.table import claims_table, dispute_page
from oversmoothing.gradient.paired import INTERVAL, paired_page, paired_table
from oversmoothing.gradient.table import gradient_page
from oversmoothing.imposed_rank.table import imposed_rank_page
from oversmoothing.layout import read_csv
from oversmoothing.learning_rates.table import rates_page
from oversmoothing.page_formats import markdown
from oversmoothing.record import read_record

ROOT = Path(__file__).resolve().parent.parent
STUDIES = sorted((ROOT / "resources/studies").iterdir())
OF_THE_DISPUTE = [path for path in STUDIES if path.name.startswith("gradient")]
SUBWORD = ROOT / "resources/studies/subword/tables"
QUOTED = re.compile(r"([+-]?\d+\.\d+) \[([+-]?\d+\.\d+), ([+-]?\d+\.\d+)\]")


@pytest.fixture(params=STUDIES, ids=lambda path: path.name)
def study(request):
    return request.param


@pytest.fixture(params=OF_THE_DISPUTE, ids=lambda path: path.name)
def dispute(request):
    return request.param


def tables(study):
    return {path.stem: read_csv(path) for path in (study / "tables").glob("*.csv")}


def test_there_is_one_for_each_config_of_the_dispute_and_one_over_tokens():
    assert {path.name for path in STUDIES} == {"gradient", "gradient_wide", "subword"}


def test_a_study_says_what_made_it_and_is_small(study):
    facts = json.loads((study / "run.json").read_text())
    assert re.fullmatch(r"[0-9a-f]{40}", facts["commit"])
    assert facts["processor_hours"] > 0
    assert facts["clock_minutes"] <= 120
    assert {"torch", "numpy", "snakemake"} <= facts["versions"].keys()
    assert sum(path.stat().st_size for path in study.rglob("*") if path.is_file()) < 2_000_000


def test_its_config_is_one_that_the_workflow_takes(study):
    check(default(**yaml.safe_load((study / "config.yaml").read_text())))


def test_its_tables_follow_from_its_differences(dispute):
    kept = tables(dispute)
    published = read_csv(ROOT / "resources/published/murugan_2026.csv")
    again = paired_table(kept["paired_ranks_by_seed"].assign(truth=lambda own: own.truth.fillna("")), published)
    pd.testing.assert_frame_equal(
        again[["way", "rank", "measure", *INTERVAL]],
        kept["paired_ranks"][["way", "rank", "measure", *INTERVAL]],
        rtol=1e-4, atol=1e-5, check_dtype=False,
    )  # fmt: skip
    claims = claims_table(DISPUTE, Arms(kept["paired_ranks_by_seed"], kept["gradient"]), None)
    assert claims.verdict.tolist() == kept["gradient_claims"].verdict.tolist()
    assert claims.id.tolist() == kept["gradient_claims"].id.tolist()


def test_its_pages_and_figures_can_be_made(dispute):
    kept = tables(dispute)
    pages = [
        paired_page(kept["paired_ranks"], "t"),
        gradient_page(kept["gradient"], "t"),
        rates_page(kept["learning_rates"], "t"),
        imposed_rank_page(kept["imposed_rank"], "t"),
        dispute_page(DISPUTE, kept["gradient_claims"], "t"),
    ]
    assert all("nan" not in markdown(page) for page in pages)
    assert paired_ranks_figure.draw(kept["paired_ranks"], "truth").axes
    assert gradient_figure.draw(kept["gradient"]).axes
    assert imposed_rank_figure.draw(kept["imposed_rank"], "truth").axes


def quotes(page, heading):
    """Means and intervals in a section of a page, as they are printed."""
    text = " ".join((ROOT / page).read_text().partition(heading)[2].partition("\n## ")[0].split())
    return [tuple(end.lstrip("+") for end in found) for found in QUOTED.findall(text)]


def sums_less_both(by_seed):
    """What the gradient alone and the logits alone cost together, less what a plain head does, by rank and seed."""
    cost = by_seed[by_seed.measure == "loss"].pivot_table(index=["rank", "seed"], columns="way", values="difference")
    return (cost["gradient alone"] + cost["retrained"] - cost["learned from scratch, plain head"]).dropna()


def interval(values, digits):
    """Mean and Student's 95 % interval, as a page prints them."""
    low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    return tuple(f"{value:.{digits}f}" for value in (values.mean(), low, high))


def test_what_the_page_on_the_dispute_quotes_is_in_a_table():
    known = {
        tuple(f"{row[name]:+.{digits}f}".lstrip("+") for name in INTERVAL)
        for study in OF_THE_DISPUTE
        for row in read_csv(study / "tables/paired_ranks.csv").to_dict("records")
        for digits in (1, 2, 3)
    }
    for study in OF_THE_DISPUTE:
        by_seed = read_csv(study / "tables/paired_ranks_by_seed.csv")
        known |= {interval(excess, 3) for _, excess in sums_less_both(by_seed).groupby("rank")}
    rates = read_csv(ROOT / "resources/studies/gradient/head_rate_same.csv")
    more = rates.plain_head_same_rate - rates.plain_head
    known |= {interval(own, 3) for _, own in more.groupby(rates["rank"])}
    quoted = quotes("docs/findings.md", "## Expressivity or optimisation?")
    assert len(quoted) >= 5
    assert [found for found in quoted if found not in known] == []


def test_what_the_page_on_tokens_quotes_is_in_a_table():
    known = {
        tuple(f"{row[name]:.3f}" for name in ("value", "low", "high"))
        for table in ("oversmoothing", "losses", "forced", "forced_heads")
        for row in read_record(SUBWORD / f"{table}.csv").to_dict("records")
    }
    quoted = quotes("docs/tokens.md", "## What came out")
    assert len(quoted) >= 5
    assert [found for found in quoted if found not in known] == []
