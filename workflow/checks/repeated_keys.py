"""Checks of a config file as it is written: repeated keys, of which YAML keeps the last, and aliases without end."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from plan.settings import ConfigError
from plan.studies import LOADER

COPIED = 100_000  # values that aliases may add to a file; a few short lines of them can stand for thousands of millions


def check_keys(files: Iterable[str | Path]) -> None:
    """Check that no mapping in the config files (YAML, and so JSON) repeats a key, and that aliases end."""
    for file in files:
        with Path(file).open(encoding="utf-8") as stream:
            document = yaml.compose(stream, Loader=LOADER)
        sizes: dict[int, float] = {}
        if _size(document, sizes) - len(sizes) > COPIED:
            raise ConfigError(
                f"{file}: its aliases (*name) stand for more than {COPIED:,} values; write out those you need"
            )
        if "seal" in _keys(document):
            raise ConfigError(
                f"{file}: a result, not a config; --configfile takes all words behind it: write `--` before targets"
            )
        for key, first, second in _repeated(document, ""):
            raise ConfigError(f"{file}: {key} is given twice, in lines {first} and {second}; keep one of them")


def _keys(node: yaml.Node | None) -> list[Any]:
    return [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []


def _repeated(node: yaml.Node | None, where: str) -> Iterator[tuple[str, int, int]]:
    """Yield each repeated key with its two lines, counted from 1; an alias does not count as a repetition."""
    waiting, seen = [(node, where)], set()
    while waiting:
        node, where = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += [(item, f"{where}.{i}") for i, item in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            lines: dict[tuple[str, str], int] = {}
            for key, value in node.value:
                name, line = f"{where}.{key.value}".lstrip("."), key.start_mark.line + 1
                if (key.tag, str(key.value)) in lines:
                    yield name, lines[key.tag, str(key.value)], line
                lines[key.tag, str(key.value)] = line
                waiting.append((value, name))


def _size(node: yaml.Node | None, sizes: dict[int, float]) -> float:
    """Return the number of values of a node with those that aliases copy; infinity if it holds itself."""
    if id(node) not in sizes:
        sizes[id(node)] = math.inf  # until it is counted
        value = node.value if isinstance(node, yaml.CollectionNode) else []
        inner = (part for item in value for part in (item if isinstance(item, tuple) else [item]))
        sizes[id(node)] = 1 + sum(_size(part, sizes) for part in inner)
    return sizes[id(node)]
