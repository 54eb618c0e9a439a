"""The kept runs on the dispute: the code reads them and comes to the same tables."""

import pandas as pd
import pytest
from kept_runs import ROOT, RUNS, tables

from oversmoothing.claims.claim import CONTRADICTED, HOLDS
from oversmoothing.claims.table import claims_table
from oversmoothing.store.layout import read_csv
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.kinds import TITLES
from studies.imposed_rank import show as show_imposed
from studies.imposed_rank.table import imposed_rank_page
from studies.paired_ranks import gradient, paired
from studies.paired_ranks.dispute import DISPUTE, Arms
from studies.paired_ranks.judge import dispute_page
from studies.paired_ranks.paired import EQUAL_LOSS, FULL, paired_page, paired_table

INTERVAL = ("value", "low", "high")
OF_THE_DISPUTE = [path for path in RUNS if path.name.startswith("gradient")]
CLAIMS = [claim.id for claim in DISPUTE]


@pytest.fixture(params=OF_THE_DISPUTE, ids=lambda path: path.name)
def dispute(request):
    return request.param


def of_now(table):
    """Rows of the arms that there still are."""
    less = table.less.isna() | table.less.isin([FULL, EQUAL_LOSS, *TITLES])
    return table[table.kind.isin(TITLES) & less]


def test_its_tables_follow_from_its_differences(dispute):
    kept = tables(dispute)
    published = read_csv(ROOT / "resources/published/murugan_2026.csv")
    by_seed = kept["paired_ranks_by_seed"]
    keys = ["kind", "rank", "truth", "measure", "less"]
    again, before = (
        table.set_index(keys).sort_index()[[*INTERVAL, "n", "published"]]
        for table in map(of_now, (paired_table(by_seed, published), kept["paired_ranks"]))
    )
    again = again.where(before.notna())  # levels were kept without intervals
    pd.testing.assert_frame_equal(again, before, rtol=1e-4, atol=1e-5, check_dtype=False)


def test_its_verdicts_are_those_that_were_kept(dispute):
    """Kept by other rules, with two comparisons for what is alike: what held holds, what did not is contradicted."""
    kept = tables(dispute)
    arms = Arms(kept["paired_ranks_by_seed"], kept["gradient"])
    now = claims_table(DISPUTE, arms, None).set_index("id").verdict
    before = kept["gradient_claims"].set_index("id").verdict[CLAIMS]
    assert set(now[before == "holds"]) == {HOLDS}
    assert set(now[before == "does not hold"]) == {CONTRADICTED}


def test_its_pages_and_figures_can_be_made(dispute):
    of_run = tables(dispute)
    kept = {name: of_now(of_run[name]) for name in ("paired_ranks", "gradient", "imposed_rank")}
    arms = Arms(of_run["paired_ranks_by_seed"], of_run["gradient"])
    pages = [
        paired_page(kept["paired_ranks"], "t"),
        gradient.gradient_page(kept["gradient"], "t"),
        imposed_rank_page(kept["imposed_rank"], "t"),
        dispute_page(DISPUTE, claims_table(DISPUTE, arms, None), "t"),
    ]
    texts = [" ".join(markdown(page).split()) for page in pages]
    assert not any("nan" in text for text in texts)
    assert "+0.063 at 16" in texts[-1]
    assert paired.draw(kept["paired_ranks"], "truth").axes
    assert gradient.draw(kept["gradient"]).axes
    assert show_imposed.draw(kept["imposed_rank"], "truth").axes
