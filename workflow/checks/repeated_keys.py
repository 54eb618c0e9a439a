"""Check for repeated keys in a config file, of which YAML silently keeps the last."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from plan.settings import ConfigError

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def check_keys(files: Iterable[str | Path]) -> None:
    """Check that no mapping in the config files (YAML, of which JSON is a subset) repeats a key.

    Raises
    ------
    ConfigError
        The message names the file, the key and both lines.
    """
    for file in files:
        with Path(file).open(encoding="utf-8") as stream:
            for key, first, second in _repeated(yaml.compose(stream, Loader=Loader), ""):
                raise ConfigError(f"{file}: {key} is given twice, in lines {first} and {second}; keep one of them")


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
