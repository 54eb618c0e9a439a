"""The schema: every key described, its description in config/README.md, and what the library declares accepted."""

import pytest
from default_config import DEFAULT

from checks.config import check
from oversmoothing.data import sources
from oversmoothing.scores.catalogue.decoders import maps, methods
from schemas.config import read_schema
from schemas.describe import PARTS, updated


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
    assert path.read_text() == updated(path), "run `make keys`"


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
