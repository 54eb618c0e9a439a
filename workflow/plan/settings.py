"""Settings of rules as plain values, and the error for a mistake in the config."""

import json
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
