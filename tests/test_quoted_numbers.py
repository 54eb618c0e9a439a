"""What pages quote is in the kept runs; of heads and BAT in the default's, but for what is listed here."""

import re

import pytest
from kept_runs import INTERVAL, QUOTED, ROOT, RUNS, quotes, tables

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.store.layout import read_csv

PAGES = ("docs/forced.md", "docs/bat.md")
EARLIER_TRUTH = "against a truth that had the family's seed, 1337"
OVER_SEEDS = "Student's intervals over seeds, against three truths: config/README.md has the table"
NOT_THE_DEFAULTS = {
    ("docs/forced.md", "## Behind a LayerNorm", EARLIER_TRUTH): ["0.676", "0.184", "0.0326", "0.0064"],
    ("docs/forced.md", "## The best head of a rank", EARLIER_TRUTH): ["0.296", "0.0907", "0.0167", "0.00193"],
    ("docs/forced.md", "## As claims", OVER_SEEDS): ["0.623", "0.282", "0.0798"],
}
SECTIONS = [
    (page, heading)
    for page in PAGES
    for heading in re.findall(r"^## .*$", (ROOT / page).read_text(), flags=re.MULTILINE)
    if quotes(page, f"{heading}\n")
]


def intervals(run):
    """Means with intervals in the tables of a kept run."""
    kept = tables(run)
    named = [table[list(INTERVAL)] for table in kept.values() if "value" in table]
    verdicts = [kept["claims"][["effect", "low", "high"]].set_axis(INTERVAL, axis=1)] if "claims" in kept else []
    return [row for frame in (*named, *verdicts) for row in frame.dropna().to_numpy()]


@pytest.fixture(scope="module")
def measured():
    return intervals(ROOT / "resources/studies/default")


@pytest.fixture(scope="module")
def anywhere():
    """Those of all kept runs, and what one rate for all weights costs a head W = A B."""
    rates = read_csv(ROOT / "resources/studies/gradient/head_rate_same.csv")
    more = (rates.plain_head_same_rate - rates.plain_head).groupby(rates["rank"])
    return [row for run in RUNS for row in intervals(run)] + [student_interval(part.tolist()) for _, part in more]


def decimals(number):
    return len(number.partition(".")[2])


def known(found, rows):
    """Whether a mean and the ends of its interval, as they are printed, are a row."""
    return any(
        all(f"{number:.{decimals(printed)}f}" == printed for number, printed in zip(row, found, strict=True))
        for row in rows
    )


def quoted_on(page):
    """Means and intervals on a page, as they are printed, but for code."""
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    return [tuple(end.lstrip("+") for end in found) for found in QUOTED.findall(" ".join(text.split()))]


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("README.md", 25),
        ("docs/findings.md", 80),
        ("docs/tokens.md", 20),
        ("docs/decoding.md", 30),
        ("docs/reproducibility.md", 3),
    ],
)
def test_each_mean_with_an_interval_is_in_a_kept_table(page, least, anywhere):
    quoted = quoted_on(page)
    assert len(quoted) >= least
    assert [found for found in quoted if not known(found, anywhere)] == []


def test_what_would_lift_it_quotes_its_own_studies_with_gains_as_positive_numbers():
    quoted = quoted_on("docs/lifting.md")
    rows = [row for run in RUNS if run.name.startswith("explanations") for row in intervals(run)]
    turned = [(-mean, -high, -low) for mean, low, high in rows]
    assert len(quoted) >= 100
    assert [found for found in quoted if not known(found, [*rows, *turned])] == []


@pytest.mark.parametrize(("page", "heading"), SECTIONS)
def test_each_mean_with_an_interval_is_in_a_table_of_the_default_or_listed(page, heading, measured):
    elsewhere = [mean for (*at, _), means in NOT_THE_DEFAULTS.items() if at == [page, heading] for mean in means]
    assert [found[0] for found in quotes(page, f"{heading}\n") if not known(found, measured)] == elsewhere


def test_the_pages_quote_many_such_numbers():
    assert {page for page, _ in SECTIONS} == set(PAGES)
    assert sum(len(quotes(page, f"{heading}\n")) for page, heading in SECTIONS) > 80
