"""The schema: every key described, its description in config/README.md, and what the library declares accepted."""

import re

import pytest
import yaml
from default_config import DEFAULT, default
from snakemake.cli import parse_config

from checks.config import check
from oversmoothing.data import sources
from oversmoothing.data.extensions import COMPRESSED, KNOWN
from oversmoothing.scores.catalogue.decoders import maps, methods
from plan import ConfigError
from plan.arms import OF_FAMILY
from schemas.config import FILE, read_schema
from schemas.describe import OF_STUDIES, PARTS, ROOT, SUBJECTS, updated
from schemas.describe import keys as written


def keys(section, where=""):
    for name, part in section.get("items", section).get("properties", {}).items():
        yield f"{where}.{name}", part
        yield from keys(part, f"{where}.{name}")


def test_every_key_is_described():
    described = dict(keys(read_schema()))
    assert len(described) > 200
    assert [key for key, part in described.items() if not part.get("description", "").endswith(".")] == []


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.name)
def test_documents_are_what_the_schemas_say(path):
    assert path.read_text() == updated(path), "run `make docs`"


def test_decoding_methods_and_their_bounds_are_the_catalogues():
    sections = read_schema()["properties"]
    for entries, names in (
        (sections["decodings"], set(maps())),
        (sections["samples"]["properties"]["decodings"], set(methods()) - {"pure"}),
    ):
        properties = entries["items"]["properties"]
        assert set(properties["name"]["enum"]) == names
        parameters = {p.key: p for name in names for p in methods()[name].parameters}
        assert set(properties) == {"name", "chain", *parameters}
        for key, parameter in parameters.items():
            low = properties[key].get("minimum", properties[key].get("exclusiveMinimum"))
            assert (low, properties[key].get("maximum", float("inf"))) == (parameter.low, parameter.high)
    every = [parameter.key for decoder in methods().values() for parameter in decoder.parameters]
    assert len(set(every)) == len(every)


def test_a_corpus_of_ones_own_is_accepted(monkeypatch):
    config = {**DEFAULT, "corpus": {**DEFAULT["corpus"], "source": "letters"}}
    with pytest.raises(Exception, match=r"corpus.source: 'letters' is not one of"):
        check(config)
    monkeypatch.setitem(sources.SOURCES, "letters", sources.docstrings)
    check(config)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("windows={count: 5}", {"count": 5}),
        ("seeds=[1, 2]", [1, 2]),
        ("wanted=null", None),
        ("corpus={cut: 500, overlap_words: null, column: 7}", {"cut": 500, "overlap_words": None, "column": "7"}),
        ("corpus={cut: paragraphs, splits: {train: .8, validation: .1, evaluation: .1}}", {"cut": "paragraphs"}),
        ("tokens={vocabulary: 8192}", {"vocabulary": 8192}),
        ("training={compile: true, betas: [0.9, 0.95]}", {"compile": True, "betas": [0.9, 0.95]}),
        ("family=[{rank: 4}, {rank: 288, published_as: 512}]", [{"rank": 4}, {"rank": 288, "published_as": "512"}]),
        (
            "decodings=[{name: pure}, {chain: [{top-k: 5}, greedy]}]",
            [{"name": "pure"}, {"chain": [{"top-k": 5}, "greedy"]}],
        ),
    ],
)
def test_strings_of_the_command_line_are_read_as_the_schema_wants(given, read):
    """Snakemake hands on what is inside a mapping or a list as strings; where the schema has strings, they stay."""
    ((key, _),) = (changes := parse_config([given])).items()
    check(config := default(**changes))
    found = config[key]
    assert (found if not isinstance(read, dict) else {name: found[name] for name in read}) == read


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("windows={count: 0}", "windows.count: 0 is less than the minimum of 1"),
        (f"family=[{{name: {'ab' * 120}, path: w}}]", r"family\.0\.name: 'abab.*' is too long"),
        ("family=[{name: -5, path: w}]", r"family\.0\.name: '-5' does not match"),
        ("windows={count: many}", "windows.count: 'many' is not of type 'integer'"),
        ("corpus={column: [text]}", r"corpus.column: \['text'\] is not of type 'string'"),
    ],
)
def test_other_strings_stay_as_they_are(given, message):
    with pytest.raises(ConfigError, match=message):
        check(default(**parse_config([given])))


def test_the_keys_stand_by_subject_and_a_family_is_a_list():
    text = written()
    subjects = re.split(r"^### ", text, flags=re.MULTILINE)
    headings = [part.partition("\n")[0] for part in subjects[1:]]
    assert headings in ([*SUBJECTS], [*SUBJECTS, OF_STUDIES])  # a project may lack the studies that have sections
    found = [re.findall(r"^#### `(\w+)`", part, flags=re.MULTILINE) for part in subjects[1:]]
    assert sorted(name for names in found for name in names) == sorted(read_schema()["properties"])
    assert found[: len(SUBJECTS)] == [list(names) for names in SUBJECTS.values()]
    of_core = yaml.safe_load(FILE.read_text())["properties"]
    assert {name for names in SUBJECTS.values() for name in names} <= set(of_core)
    (family,) = re.findall(r"^#### `family`\n(.*?)^\| key", text, flags=re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^- `\{(.*?)\}+`", family, flags=re.MULTILINE)
    assert len(entries) == len(OF_FAMILY) + 2
    assert max(map(len, family.splitlines())) < 500


def test_the_page_begins_with_three_walks_whose_configs_are_accepted():
    text = (ROOT / "config/README.md").read_text()
    headings = re.findall(r"^## (.*)", text, flags=re.MULTILINE)
    assert headings[:3] == ["My corpus", "My models", "My cluster"]
    for block in re.findall(r"```yaml\n(.*?)```", text.partition("## How configs are read")[0], flags=re.DOTALL):
        check(default(**yaml.safe_load(block)))


def test_the_paths_of_texts_are_described_with_every_format():
    described = read_schema()["properties"]["corpus"]["properties"]["paths"]["description"]
    assert {*KNOWN, *COMPRESSED} == set(re.findall(r"\.\w+", described))
