"""The config's schema: config.schema.yaml, completed with the sections of the studies and what the library declares."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from oversmoothing.data.sources import SOURCES
from oversmoothing.scores.catalogue.decoders import Parameter, maps, methods
from oversmoothing.training.objectives import CROSS_ENTROPY, OBJECTIVES
from plan import studies
from plan.arms import OF_FAMILY, family_keys, objective_keys

FILE = Path(__file__).parent / "config.schema.yaml"


def read_schema() -> dict[str, Any]:
    """Return the schema with the studies, and what the library declares: corpus sources, metrics, decoding methods."""
    schema = read_core()
    sections = schema["properties"]
    sections["studies"]["items"] = {"enum": studies.there()}
    studies.merge(sections, studies.sections("schema.yaml"))
    sections["corpus"]["properties"]["source"]["enum"] = [*SOURCES, "fineweb"]  # which has to be fetched first
    _declare(sections["decodings"], maps())
    _declare(sections["samples"]["properties"]["decodings"], [name for name in methods() if name != "pure"])
    sections["training"]["properties"]["objective"] |= objective_keys(CROSS_ENTROPY, *OBJECTIVES)
    family = sections["family"]
    family["description"] = family["description"].replace("{arms}", "\n".join(f"- {arm.words}" for arm in OF_FAMILY))
    family["items"]["properties"] = family_keys() | family["items"]["properties"]
    _complete(schema)
    return schema


def read_core() -> dict[str, Any]:
    """Return the schema of config.schema.yaml alone, without what the studies and the library add to it."""
    core: dict[str, Any] = yaml.load(FILE.read_text(encoding="utf-8"), studies.LOADER)
    return core


def _complete(section: dict[str, Any], entry: bool = False) -> None:
    """Make sections mappings without unknown keys, which require all keys but those of entries of lists."""
    if "properties" in section:
        section |= {"type": "object", "additionalProperties": False} | section
        section.setdefault("required", [] if entry else list(section["properties"]))
    for part in section.get("properties", {}).values():
        _complete(part, entry)
    for part in (*filter(None, [section.get("items")]), *section.get("anyOf", [])):
        _complete(part, entry=True)


def _declare(entries: dict[str, Any], names: Iterable[str]) -> None:
    """Fill in the allowed names of an entry, and the keys of each name."""
    keys = entries["items"]["properties"]
    keys["name"]["enum"] = list(names)
    for name in names:
        for parameter in methods()[name].parameters:
            keys[parameter.key] = {"description": f"Of `{name}`."} | keys.get(parameter.key, {}) | _bounds(parameter)


def _bounds(parameter: Parameter) -> dict[str, Any]:
    bounds: dict[str, Any] = {"type": "integer" if parameter.whole else "number"}
    bounds |= {"exclusiveMinimum" if parameter.above else "minimum": parameter.low}
    return bounds | ({} if parameter.high == float("inf") else {"maximum": parameter.high})
