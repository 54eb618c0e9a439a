"""The studies that are kept: the workflow takes their configs, and the code reads their tables."""

import runpy

import pytest
import yaml
from default_config import default
from kept_runs import ROOT, RUNS, STUDIES, tables
from pandas import Series, read_csv

from checks.config import check
from oversmoothing.store.layout import csv_text
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.learning_rates import rates_page
from plan import studies
from plan.settings import ConfigError

GONE = {"repeated": "repeated_symbols"}  # kept runs, and the studies that made them at v0.5
GONE_ARMS = {"head_gradient", "vocabulary", "beside_full"}


@pytest.fixture(params=RUNS, ids=lambda path: str(path.relative_to(STUDIES)))
def study(request):
    return request.param


def test_its_config_is_one_that_the_workflow_takes_but_for_what_has_gone(study):
    config = yaml.safe_load((study / "config.yaml").read_text())
    if study.name in GONE:
        with pytest.raises(ConfigError, match=f"unknown key '{config['wanted'][0]}'"):
            check(default(**config))
        return
    config.get("training", {}).pop("head_gradient", None)
    config.get("metrics", {}).get("tbat", {}).pop("premise_per_window", None)
    if "studies" in config:
        config["studies"] = [name for name in config["studies"] if name in studies.there()]
    if "family" in config:
        config["family"] = [entry for entry in config["family"] if not GONE_ARMS & {*entry, entry.get("head")}]
    check(default(**config))


def test_its_page_of_learning_rates_can_be_made(study):
    if "learning_rates" in (kept := tables(study)):
        assert "nan" not in markdown(rates_page(kept["learning_rates"], "t"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "replication"])
def test_kept_verdicts_are_what_the_code_says_of_the_kept_tables(name):
    judged = runpy.run_path(str(ROOT / "benchmarks/judge_kept.py"))["judged"]
    assert csv_text(judged(STUDIES / name)) == (STUDIES / name / "tables/claims.csv").read_text()


def test_what_heads_force_is_proved_to_a_billionth_of_a_nat_over_bytes_and_to_a_hundred_thousandth_over_tokens():
    over_tokens, proved = {"subword", "real_head", "real_head_gemma"}, set()
    over_tokens |= {path.name for path in STUDIES.glob("vocabularies*")}
    for path in STUDIES.glob("*/tables/*.csv"):
        table = read_csv(path, low_memory=False)
        gaps = table.value[table.measure == "gap"] if "measure" in table else Series(dtype=float)
        assert (gaps <= (1e-5 if path.parents[1].name in over_tokens else 1e-9)).all(), path
        if path.stem in ("forced", "forced_heads"):
            assert {*table.model[table.measure == "forced"].dropna()} <= {*table.model[table.measure == "gap"]}, path
        proved |= {path.parents[1].name} if len(gaps) else set()
    assert proved >= {"default", "smollm2", "smollm2_long", "smollm2_prose", "real_truth", "workstation", *over_tokens}
