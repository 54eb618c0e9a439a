"""Every rule with a script carries the fingerprint of its code, whoever writes it and whatever it states."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.sourcecache import LocalSourceFile

from oversmoothing.fingerprint import fingerprint
from tracking import planned
from tracking.complete import complete

SNAKEFILE = Path(__file__).parents[2] / "workflow/Snakefile"


class Rule(SimpleNamespace):
    """As much of a rule of Snakemake as is needed here."""

    def __init__(self, name, script="../../scripts/score.py", output=(), params=(), log=()):
        super().__init__(name=name, script=script, output=output, params=dict(params), log=list(log), conda_env=None)
        self.basedir = LocalSourceFile(str(SNAKEFILE.parent / "rules"))

    def set_params(self, **params):
        self.params |= params

    def set_log(self, log):
        self.log.append(log)


@pytest.fixture
def completed(monkeypatch):
    monkeypatch.setenv(planned.VARIABLE, "{}")

    def run(*rules):
        workflow = SimpleNamespace(rules=rules, local=[], modifier=SimpleNamespace(path_modifier=None))
        workflow.localrules = workflow.local.append
        complete(workflow, SNAKEFILE.parents[1] / "envs/environment.yaml", "results", "logs", ["results/tables"])
        return workflow

    return run


def test_a_rule_with_a_script_has_all_that_it_does_not_state(completed):
    rule = Rule("score", output=["results/scores/{metric}/{model}.parquet"])
    completed(rule)
    assert rule.params["code"] == fingerprint("score.py")
    assert callable(rule.params["asked"])
    assert rule.conda_env == "../../envs/environment.yaml"
    assert rule.log == ["logs/score/{metric}-{model}.log"]
    plain = Rule("needs")
    completed(plain)
    assert plain.log == ["logs/needs.log"]


def test_what_a_rule_states_stays(completed):
    rule = Rule("fetch", output=["a.json"], params={"code": "own"}, log=["own.log"])
    completed(rule)
    assert (rule.params["code"], rule.log) == ("own", ["own.log"])


def test_tables_run_here_and_rules_without_a_script_are_left_alone(completed):
    table, scores = Rule("score_table", output=["results/tables/a.csv"]), Rule("score", output=["results/a.parquet"])
    target = Rule("all", script=None)
    assert completed(table, scores, target).local == ["score_table"]
    assert target.params == {}


def test_rules_are_completed_once_all_chapters_are_read():
    *before, after = re.split(r"^(?:include|rule|use rule)\b", SNAKEFILE.read_text(), flags=re.MULTILINE)
    assert "complete(" in after
    assert len(before) > 10
    chapters = {path.name for path in (SNAKEFILE.parent / "rules").glob("*.smk")}
    assert chapters == set(re.findall(r'^ *include: "rules/(.*)"$', SNAKEFILE.read_text(), flags=re.MULTILINE))
