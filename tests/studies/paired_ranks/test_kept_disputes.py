"""The kept runs on the dispute: the code reads them and comes to the same tables, and a page quotes what is in them."""

import numpy as np
import pandas as pd
import pytest
from kept_runs import INTERVAL, ROOT, RUNS, quotes, tables
from scipy import stats

from oversmoothing.claims.table import claims_table
from oversmoothing.store.layout import read_csv
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.record import read_record
from studies.imposed_rank import show as show_imposed
from studies.imposed_rank.table import imposed_rank_page
from studies.paired_ranks import show_gradient, show_paired
from studies.paired_ranks.dispute import DISPUTE, Arms
from studies.paired_ranks.gradient import gradient_page
from studies.paired_ranks.judge import dispute_page
from studies.paired_ranks.paired import BASE, BETWEEN, from_record, paired_page, paired_table

OF_THE_DISPUTE = [path for path in RUNS if path.name.startswith("gradient")]
CLAIMS = [claim.id for claim in DISPUTE]


@pytest.fixture(params=OF_THE_DISPUTE, ids=lambda path: path.name)
def dispute(request):
    return request.param


def of_now(table):
    """Rows of the arms that there still are, or of the claims."""
    return table[table.kind.isin([*TITLES, *BETWEEN])] if "kind" in table else table[table.id.isin(CLAIMS)]


def test_its_tables_follow_from_its_differences(dispute):
    kept = tables(dispute)
    published = read_csv(ROOT / "resources/published/murugan_2026.csv")
    by_seed = from_record(kept["paired_ranks_by_seed"])
    keys = ["kind", "rank", "truth", "measure"]
    again, before = (
        table.set_index(keys).sort_index()[[*INTERVAL, "n", "published"]]
        for table in map(of_now, (paired_table(by_seed, published), kept["paired_ranks"]))
    )
    values = ~again.index.get_level_values("measure").str.endswith(BASE)
    assert (again.index == before.index).all()
    pd.testing.assert_frame_equal(again[values], before[values], rtol=1e-4, atol=1e-5, check_dtype=False)
    np.testing.assert_allclose(again.value[~values], before.value[~values], rtol=1e-4)
    claims = claims_table(DISPUTE, Arms(by_seed, kept["gradient"]), None).set_index("id")
    before = of_now(kept["gradient_claims"])
    assert before.id.tolist() == CLAIMS
    assert claims.verdict[before.id].tolist() == before.verdict.tolist()


def test_its_pages_and_figures_can_be_made(dispute):
    of_run = tables(dispute)
    kept = {name: of_now(of_run[name]) for name in ("paired_ranks", "gradient", "imposed_rank", "gradient_claims")}
    pages = [
        paired_page(kept["paired_ranks"], "t"),
        gradient_page(kept["gradient"], "t"),
        imposed_rank_page(kept["imposed_rank"], "t"),
        dispute_page(DISPUTE, kept["gradient_claims"], "t"),
    ]
    assert all("nan" not in markdown(page) for page in pages)
    assert show_paired.draw(kept["paired_ranks"], "truth").axes
    assert show_gradient.draw(kept["gradient"]).axes
    assert show_imposed.draw(kept["imposed_rank"], "truth").axes


def test_the_page_says_how_many_seeds_would_decide_what_is_open():
    folder = ROOT / "resources/studies/gradient/tables"
    arms = Arms(from_record(read_record(folder / "paired_ranks_by_seed.csv")), read_record(folder / "gradient.csv"))
    seeds = claims_table(DISPUTE, arms, None).set_index("id").seeds
    kept = read_csv(folder / "gradient_claims.csv").set_index("id").seeds
    assert seeds.dropna().to_dict() == kept[seeds.index].dropna().to_dict()
    page = " ".join((ROOT / "docs/findings.md").read_text().split())
    for claim, words in (
        ("forward-rank-costs-more", "{} seeds would say with a chance of 80 % whether a head"),
        ("unused-classes-do-no-harm", "{} that unused classes do no harm"),
        ("wide-retrained-heads-cost-nothing", "{} that a retrained head of rank 16"),
    ):
        assert words.format(f"{kept[claim]:.0f}") in page


def sums_less_both(by_seed):
    """What the gradient alone and the logits alone cost together, less what a plain head does, by rank and seed."""
    cost = by_seed[by_seed.measure == "loss"].pivot_table(index=["rank", "seed"], columns="kind", values="difference")
    return (cost["backward"] + cost["retrained"] - cost["plain"]).dropna()


def interval(values, digits):
    """Mean and Student's 95 % interval, as a page prints them."""
    low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    return tuple(f"{value:.{digits}f}" for value in (values.mean(), low, high))


def test_what_the_page_on_the_dispute_quotes_is_in_a_table():
    known = {
        tuple(f"{row[name]:+.{digits}f}".lstrip("+") for name in INTERVAL)
        for study in OF_THE_DISPUTE
        for path in (study / "tables").glob("*")
        if path.stem in ("paired_ranks", "closed_square")
        for row in read_record(path).to_dict("records")
        for digits in (1, 2, 3)
    }
    for study in OF_THE_DISPUTE:
        by_seed = from_record(read_record(study / "tables/paired_ranks_by_seed.csv"))
        known |= {interval(excess, 3) for _, excess in sums_less_both(by_seed).groupby("rank")}
    rates = read_csv(ROOT / "resources/studies/gradient/head_rate_same.csv")
    more = rates.plain_head_same_rate - rates.plain_head
    known |= {interval(own, 3) for _, own in more.groupby(rates["rank"])}
    quoted = quotes("docs/findings.md", "## Expressivity or optimisation?")
    assert len(quoted) >= 5
    assert [found for found in quoted if found not in known] == []
