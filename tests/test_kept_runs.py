"""The studies that are kept: the code still reads them, comes to the same tables, and pages quote what is in them."""

import json
import re

import pytest
import yaml
from default_config import default
from kept_runs import ROOT, RUNS, STUDIES, quotes, tables

from checks.config import check
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.learning_rates import rates_page
from oversmoothing.tables.record import read_record
from plan import studies

SUBWORD = ROOT / "resources/studies/subword/tables"


@pytest.fixture(params=RUNS, ids=lambda path: str(path.relative_to(STUDIES)))
def study(request):
    return request.param


def test_no_other_studies_are_kept():
    assert {str(path.relative_to(STUDIES)) for path in RUNS} == {
        "default",
        "explanations",
        "explanations_long",
        "explanations_wide",
        "frontier/default",
        "frontier/law",
        "frontier/subword",
        "gradient",
        "gradient_wide",
        "law",
        "murugan",
        "smollm2",
        "smollm2_prose",
        "repeated",
        "seeds",
        "subword",
    }


def test_a_study_says_what_made_it_and_is_small(study):
    facts = json.loads((study / "run.json").read_text())
    assert re.fullmatch(r"[0-9a-f]{40}", facts["commit"])
    assert facts["processor_hours"] > 0
    assert facts["clock_minutes"] <= 120
    assert {"torch", "numpy", "snakemake"} <= facts["versions"].keys()
    assert sum(path.stat().st_size for path in study.rglob("*") if path.is_file()) < 2_000_000


def test_its_config_is_one_that_the_workflow_takes(study):
    """But for the names of studies that have gone since."""
    config = yaml.safe_load((study / "config.yaml").read_text())
    there = [name for name in config.get("studies", []) if name in studies.there()]
    check(default(**config | ({"studies": there} if there else {})))


def test_its_page_of_learning_rates_can_be_made(study):
    if "learning_rates" in (kept := tables(study)):
        assert "nan" not in markdown(rates_page(kept["learning_rates"], "t"))


def test_what_the_page_on_tokens_quotes_is_in_a_table():
    known = {
        tuple(f"{row[name]:.3f}" for name in ("value", "low", "high"))
        for table in ("oversmoothing", "losses", "forced", "forced_heads")
        for row in read_record(SUBWORD / f"{table}.csv").to_dict("records")
    }
    quoted = quotes("docs/tokens.md", "## What came out")
    assert len(quoted) >= 5
    assert [found for found in quoted if found not in known] == []
