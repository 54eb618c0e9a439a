"""Checks of a config file as it is written: repeated keys, of which YAML keeps the last."""

from collections.abc import Iterable
from pathlib import Path

import yaml

from plan.settings import ConfigError


def check_keys(files: Iterable[str | Path]) -> None:
    """Check that no mapping in the config files (YAML, and so JSON) repeats a key."""
    for file in files:
        with Path(file).open(encoding="utf-8") as stream:
            document = yaml.load(stream, _Loader)
        if isinstance(document, dict) and "seal" in document:
            raise ConfigError(
                f"{file}: a result, not a config; --configfile takes all words behind it: write `--` before targets"
            )


class _Loader(yaml.SafeLoader):
    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        """Read a mapping; a `ConfigError` names a key that it repeats, and the lines, counted from 1."""
        node = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            name, line = (key.tag, str(key.value)), key.start_mark.line + 1
            if name in lines:
                twice = f"{key.value} is given twice, in lines {lines[name]} and {line}"
                raise ConfigError(f"{key.start_mark.name}: {twice}; keep one of them")
            lines[name] = line
        return node
