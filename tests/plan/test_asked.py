"""What the plan tells each job of its files: their names, and the settings of all that they are made from."""

import re
from types import SimpleNamespace

from tracking.asked import asked_of_files


class Rule(SimpleNamespace):
    """As much of a rule of Snakemake as is needed here; a pattern has one wildcard."""

    def __init__(self, name, pattern, inputs=(), script="a.py", **params):
        super().__init__(name=name, pattern=pattern, inputs=inputs, script=script, params=SimpleParams(params))

    def _match(self, path):
        return re.fullmatch(self.pattern.replace("{model}", r"(?P<model>\w+)"), path)

    def is_producer(self, path):
        return self._match(path) is not None

    def get_wildcards(self, path):
        return self._match(path).groupdict()

    def expand_input(self, wildcards):
        return [path.format(**dict(wildcards.items())) for path in self.inputs], {}, {}, False


class SimpleParams(SimpleNamespace):
    def __init__(self, values):
        super().__init__(**values)

    def keys(self):
        return vars(self).keys()


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


def entry(file, rule, recorded=True, **settings):
    return {"file": file, "rule": rule, "recorded": recorded} | ({"settings": settings} if settings else {})


def test_every_file_has_the_name_and_the_settings_of_its_rule_and_so_has_all_that_it_is_made_from():
    asked = asked_of_files(RULES, "results")(None, ["results/logits/bn4.parquet"], ["results/scores/tv/bn4.parquet"])
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
    asked = asked_of_files(RULES, "results")(None, ["results/rates/bn4.json", "text.jsonl"], ["/elsewhere/a.json"])
    rates = entry("rates/bn4.json", "choose", recorded=False, trials=2)
    assert asked == {"inputs": {"results/rates/bn4.json": rates}, "outputs": {}}


def test_a_manifest_states_the_text_in_place_of_its_paths_and_is_a_source():
    written = ["results/corpus/train.bin", "results/corpus/manifest.json"]
    asked = asked_of_files(RULES, "results")(None, ["text.jsonl"], written)
    assert asked == {
        "inputs": {},
        "outputs": {"results/corpus/train.bin": "corpus/train.bin", written[1]: "corpus/manifest.json"},
        "settings": {"source": "files", "text": "5e1f"},
    }
    asked = asked_of_files(RULES, "results")(None, ["results/laws/full-8/manifest.json"], ["results/a.parquet"])
    assert asked["inputs"] == {
        "results/laws/full-8/manifest.json": entry("laws/full-8/manifest.json", "law", n=8),
        "results/laws/full.parquet": entry("laws/full.parquet", "text", seed=1),
        "results/corpus/manifest.json": entry("corpus/manifest.json", "build", source="files", text="5e1f"),
    }
