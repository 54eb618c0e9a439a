"""What plain `snakemake` makes: all tables and figures, or those that the config names."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from plan.settings import ConfigError


def wanted(config: Mapping[str, Any], made: Sequence[str]) -> list[str]:
    """Tables and figures of the names in the config, of those that it can make; all for null."""
    if config["wanted"] is None:
        return list(made)
    known = sorted({PurePath(path).stem for path in made})
    for name in config["wanted"]:
        if name not in known:
            raise ConfigError(f"wanted: this config makes no table or figure {name!r}; it makes {', '.join(known)}")
    return [path for path in made if PurePath(path).stem in config["wanted"]]
