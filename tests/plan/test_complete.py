"""Every rule with a script carries the fingerprint of its code, and what its files should be, whoever writes it."""

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import Wildcards
from snakemake.sourcecache import LocalSourceFile

from oversmoothing.fingerprint import fingerprint
from tracking import planned
from tracking.complete import asked_of_files, complete

SNAKEFILE = Path(__file__).parents[2] / "workflow/Snakefile"


class Rule(SimpleNamespace):
    """As much of a rule of Snakemake as is needed here; a pattern has one wildcard."""

    def __init__(self, name, pattern="", inputs=(), script="../../scripts/score.py", output=(), log=(), **params):
        super().__init__(name=name, pattern=pattern, inputs=inputs, script=script, output=output, log=list(log))
        self.params, self.conda_env = Params(**params), None
        self.basedir = LocalSourceFile(str(SNAKEFILE.parent / "rules"))

    def set_params(self, **params):
        vars(self.params).update(params)

    def set_log(self, log):
        self.log.append(log)

    def _match(self, path):
        return re.fullmatch(self.pattern.replace("{model}", r"(?P<model>\w+)"), path)

    def is_producer(self, path):
        return self._match(path) is not None

    def get_wildcards(self, path):
        return self._match(path).groupdict()

    def expand_input(self, wildcards):
        return [path.format(**dict(wildcards.items())) for path in self.inputs], {}, {}, False


class Params(SimpleNamespace):
    def get(self, name, default=None):
        return getattr(self, name, default)


@pytest.fixture
def completed(monkeypatch):
    monkeypatch.setenv(planned.VARIABLE, "{}")

    def run(*rules):
        workflow = SimpleNamespace(rules=rules, local=[], modifier=SimpleNamespace(path_modifier=None))
        workflow.localrules = workflow.local.append
        complete(workflow, "results", "assets")
        return workflow

    return run


def test_a_rule_with_a_script_has_all_that_it_does_not_state(completed):
    rule = Rule("score", output=["results/scores/{metric}/{model}.parquet"])
    completed(rule)
    assert rule.params.code == fingerprint("score.py")
    assert callable(rule.params.asked)
    assert rule.conda_env == "../../envs/environment.yaml"
    assert rule.log == ["results/logs/score/{metric}-{model}.log"]
    of_texts = Rule("score", output=["results/{text}scores/{metric}/{model}.parquet"])
    completed(of_texts)
    assert of_texts.log == ["results/logs/{text}score/{metric}-{model}.log"]
    plain = Rule("needs")
    completed(plain)
    assert plain.log == ["results/logs/needs.log"]


def test_what_a_rule_states_stays(completed):
    rule = Rule("fetch", output=["a.json"], log=["own.log"], code="own")
    completed(rule)
    assert (rule.params.code, rule.log) == ("own", ["own.log"])


def test_tables_run_here_and_rules_without_a_script_are_left_alone(completed):
    table, scores = Rule("score_table", output=["results/tables/a.csv"]), Rule("score", output=["results/a.parquet"])
    target = Rule("all", script=None)
    assert completed(table, scores, target).local == ["score_table"]
    assert vars(target.params) == {}


def test_rules_are_completed_once_all_chapters_are_read():
    *before, after = re.split(r"^(?:include|rule|use rule)\b", SNAKEFILE.read_text(), flags=re.MULTILINE)
    assert "complete(" in after
    assert len(before) > 10
    chapters = {path.name for path in (SNAKEFILE.parent / "rules").glob("*.smk")}
    assert chapters == set(re.findall(r'^ *include: "rules/(.*)"$', SNAKEFILE.read_text(), flags=re.MULTILINE))


RULES = [
    Rule(
        "build",
        r"results/corpus/(train\.bin|manifest\.json)",
        ["text.jsonl"] * 1000,
        settings={"source": "files", "paths": ["text.jsonl"]},
        identity=lambda wildcards: {"source": "files", "text": "5e1f"},
    ),
    Rule("windows", "results/windows.parquet", ["results/corpus/train.bin"], settings={"count": 6}),
    Rule("text", "results/laws/full.parquet", ["results/corpus/manifest.json"], settings={"seed": 1}),
    Rule("law", r"results/laws/full-8/(train\.bin|manifest\.json)", ["results/laws/full.parquet"], settings={"n": 8}),
    Rule(
        "train",
        "results/models/{model}/weights.safetensors",
        ["results/corpus/train.bin", "results/rates/{model}.json"],
        settings=lambda wildcards: {"model": {"name": wildcards.model, "vocabulary": None}, "seed": 1},
    ),
    Rule("choose", "results/rates/{model}.json", ["results/windows.parquet"], settings={"trials": 2}),
    Rule(
        "logits",
        "results/logits/{model}.parquet",
        ["results/windows.parquet", "results/models/{model}/weights.safetensors", "text.jsonl"],
    ),
    Rule("all", "results/{model}", script=None),
]


def asked_of(rules):
    return asked_of_files(rules, "results", "assets")


def entry(file, rule, recorded=True, **settings):
    return {"file": file, "rule": rule, "recorded": recorded} | ({"settings": settings} if settings else {})


def test_every_file_has_the_name_and_the_settings_of_its_rule_and_so_has_all_that_it_is_made_from():
    asked = asked_of(RULES)(None, ["results/logits/bn4.parquet"], ["results/scores/tv/bn4.parquet"])
    weights = "models/bn4/weights.safetensors"
    assert asked == {
        "outputs": {"results/scores/tv/bn4.parquet": "scores/tv/bn4.parquet"},
        "inputs": {
            "results/logits/bn4.parquet": entry("logits/bn4.parquet", "logits"),
            "results/windows.parquet": entry("windows.parquet", "windows", count=6),
            f"results/{weights}": entry(weights, "train", model={"name": "bn4"}, seed=1),  # the tokenizer says how many
        },
    }


def test_files_that_state_nothing_are_named_and_their_sources_are_not():
    asked = asked_of(RULES)(None, ["results/rates/bn4.json", "text.jsonl"], ["/elsewhere/a.json"])
    rates = entry("rates/bn4.json", "choose", recorded=False, trials=2)
    assert asked == {"inputs": {"results/rates/bn4.json": rates}, "outputs": {}}


def test_a_manifest_states_the_text_in_place_of_its_paths_and_is_a_source():
    written = ["results/corpus/train.bin", "results/corpus/manifest.json"]
    asked = asked_of(RULES)(None, ["text.jsonl"], written)
    assert asked == {
        "inputs": {},
        "outputs": {"results/corpus/train.bin": "corpus/train.bin", written[1]: "corpus/manifest.json"},
        "settings": {"source": "files", "text": "5e1f"},
    }
    asked = asked_of(RULES)(None, ["results/laws/full-8/manifest.json"], ["results/a.parquet"])
    assert asked["inputs"] == {
        "results/laws/full-8/manifest.json": entry("laws/full-8/manifest.json", "law", n=8),
        "results/laws/full.parquet": entry("laws/full.parquet", "text", seed=1),
        "results/corpus/manifest.json": entry("corpus/manifest.json", "build", source="files", text="5e1f"),
    }


def test_a_result_states_the_sources_of_models_and_a_digest_of_the_users_files(monkeypatch):
    source = {"package": "small==0.1", "sha256": "5e1f"}
    fetch = Rule(
        "fetch", "assets/{model}.json", settings=source, files=lambda _: {"folder/a.json": "as the manifest says"}
    )
    texts = {"manual": {"a.txt": "1 bytes"}, "other": {"b.txt": "2 bytes"}}
    reads = Rule("read", "results/states/{model}.parquet", ["assets/m.json"], files=lambda asked: texts[asked.model])
    asked = asked_of([fetch, reads])
    found = []
    for key in texts:
        monkeypatch.setenv(planned.VARIABLE, json.dumps({"by": str(os.getpid())}))
        states, of_text = f"results/states/{key}.parquet", f"files of read {key}"
        inputs = asked(None, [states], ["results/a.parquet"])["inputs"]
        found.append(inputs[of_text]["settings"]["digest"])
        files = {of_text: entry(of_text, "read", digest=found[-1]), "assets/m.json": entry("m.json", "fetch", **source)}
        assert inputs == {states: entry(f"states/{key}.parquet", "read"), **files}
        assert asked(Wildcards(fromdict={"model": key}), ["assets/m.json"], [states])["inputs"] == files
    assert found[0] != found[1]


def test_json_states_the_settings_of_its_rule():
    assert asked_of(RULES)(None, ["results/windows.parquet"], ["results/rates/bn4.json"])["settings"] == {"trials": 2}
