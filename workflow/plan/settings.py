"""Settings of rules as plain values, the error for a mistake in the config, and what plain `snakemake` makes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from snakemake.exceptions import WorkflowError

from oversmoothing.printable import printable


class ConfigError(WorkflowError):
    """A mistake in the config; the message names the key, and Snakemake prints it without a traceback."""

    def __init__(self, *said: Any) -> None:
        super().__init__(*map(printable, map(str, said)))


def settings(**values: Any) -> dict[str, Any]:
    """Return the values as one plain dict with sorted keys, which Snakemake can compare between runs."""
    return json.loads(json.dumps(values, sort_keys=True))


def wanted(config: Mapping[str, Any], made: Sequence[str]) -> list[str]:
    """Return tables and figures of the names in the config, of those that it can make; all for null."""
    if config["wanted"] is None:
        return list(made)
    known = sorted({PurePath(path).stem for path in made})
    for name in config["wanted"]:
        if name not in known:
            raise ConfigError(f"wanted: this config makes no table or figure {name!r}; it makes {', '.join(known)}")
    return [path for path in made if PurePath(path).stem in config["wanted"]]
