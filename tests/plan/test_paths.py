"""Every path of a config is checked by name when the config is read; text may be missing until something reads it."""

from types import SimpleNamespace

import pytest
from default_config import DEFAULT, default

from checks.paths import check_paths, check_sources, check_text, missing_text
from plan import ConfigError

OTHER = {"name": "other", "layout": "causal_lm"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"truths": [{"name": "truth", "path": "no.safetensors"}]}, "truths.0.path: no file no.safetensors"),
        ({"family": [{"rank": 4}, {"name": "a", "path": "no"}]}, "family.1.path: no file no"),
        ({"truths": [{**OTHER, "hub": "/no/such/model"}]}, "truths.0.hub: no folder /no/such/model"),
        ({"tokens": {"tokenizer": "/a/{x}"}}, "tokens.tokenizer: /a/{x}: '{' in a path means a wildcard"),
        ({"results": f"{__file__}/deep"}, f"results: {__file__} is a file, not a folder; name another folder"),
        ({"checkpoints": {"folder": __file__}}, f"checkpoints.folder: {__file__} is a file, not a folder"),
        ({"results": "caf\udce9{x}"}, r"results: 'caf\udce9{x}': a line break or another control character"),
        ({"assets": "<results>"}, "assets: <results>: '<' in a path means a wildcard"),
    ],
)
def test_a_path_that_is_not_there_is_named_with_its_key(changes, message):
    with pytest.raises(ConfigError) as error:
        check_paths(default(**changes))
    assert message in str(error.value)


def test_paths_that_are_there_pass(tmp_path):
    file = tmp_path / "w.safetensors"
    file.touch()
    check_paths(DEFAULT)
    check_paths(default(truths=[{"name": "t", "path": str(file)}]))


def test_a_line_break_in_a_path_is_refused_in_one_line(tmp_path):
    (tmp_path / "a\nb.txt").touch()
    with pytest.raises(ConfigError, match=r"^corpus.paths: '.*': a line break or another control character") as error:
        check_paths(default(corpus={"source": "files", "paths": [f"{tmp_path}/*.txt"]}))
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": {"source": "files", "paths": ["no/*.txt"]}}, "corpus.paths: no file matches 'no/*.txt'"),
        ({"corpus": {"source": "fineweb", "fineweb": {"repository": "./no"}}}, "repository: no file no/sample"),
    ],
)
def test_missing_text_stops_what_reads_it_alone(changes, message):
    config = default(**changes)
    check_paths(config)
    assert message in missing_text(config)[0]
    with pytest.raises(ConfigError) as error:
        check_text(config)
    assert message in str(error.value)
    assert not missing_text(DEFAULT)


def test_an_input_that_stands_in_a_rule_must_be_there(tmp_path):
    there = tmp_path / "there.csv"
    there.touch()
    inputs = [str(there), "results/made.csv", "assets/{asset}.json", "{model}.csv", lambda wildcards: "later.csv"]
    check_sources([SimpleNamespace(name="table", input=inputs)], made=["results", "assets/"])
    rules = [SimpleNamespace(name="table", input=[*inputs, "resources/none.csv"])]
    with pytest.raises(ConfigError, match=r"resources/none\.csv: no such file, but rule table reads it"):
        check_sources(rules, made=["results", "assets/"])
