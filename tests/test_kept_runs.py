"""The studies that are kept: the workflow takes their configs, and the code reads their tables."""

import json
import re

import pytest
import yaml
from default_config import default
from kept_runs import RUNS, STUDIES, tables

from checks.config import check
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.learning_rates import rates_page


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
    check(default(**yaml.safe_load((study / "config.yaml").read_text())))


def test_its_page_of_learning_rates_can_be_made(study):
    if "learning_rates" in (kept := tables(study)):
        assert "nan" not in markdown(rates_page(kept["learning_rates"], "t"))
