"""The kept runs of several ways to impose a rank: the code reads them and comes to the same tables."""

import pandas as pd
import pytest
from kept_runs import ROOT, RUNS, tables

from oversmoothing.store.layout import read_csv
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.kinds import TITLES
from studies.imposed_rank import show as show_imposed
from studies.imposed_rank.table import imposed_rank_page
from studies.paired_ranks import paired
from studies.paired_ranks.paired import FULL, paired_page, paired_table

INTERVAL = ("value", "low", "high")
OF_PAIRS = [path for path in RUNS if path.name.startswith("gradient")]


@pytest.fixture(params=OF_PAIRS, ids=lambda path: path.name)
def run(request):
    return request.param


def of_now(table):
    """Rows of the arms and of the differences that there still are."""
    less = table.less.isna() | table.less.isin([FULL, *TITLES])
    return table[table.kind.isin(TITLES) & less]


def test_its_tables_follow_from_its_differences(run):
    kept = tables(run)
    published = read_csv(ROOT / "resources/published/murugan_2026.csv")
    by_seed = kept["paired_ranks_by_seed"]
    keys = ["kind", "rank", "truth", "measure", "less"]
    again, before = (
        table.set_index(keys).sort_index()[[*INTERVAL, "n", "published"]]
        for table in map(of_now, (paired_table(by_seed, published), kept["paired_ranks"]))
    )
    again = again.where(before.notna())  # levels were kept without intervals
    pd.testing.assert_frame_equal(again, before, rtol=1e-4, atol=1e-5, check_dtype=False)


def test_its_pages_and_figures_can_be_made(run):
    of_run = tables(run)
    kept = {name: of_now(of_run[name]) for name in ("paired_ranks", "imposed_rank")}
    pages = [paired_page(kept["paired_ranks"], "t"), imposed_rank_page(kept["imposed_rank"], "t")]
    assert not any("nan" in markdown(page).split() for page in pages)
    assert paired.draw(kept["paired_ranks"], "truth").axes
    assert show_imposed.draw(kept["imposed_rank"], "truth").axes
