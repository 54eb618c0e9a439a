"""The learning rate that trials of several chose for a training."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError


def with_rate(settings: Mapping[str, Any], chosen: str | Path | None) -> dict[str, Any]:
    """Return the settings of a training with the peak learning rate in a file, or as they are without a file.

    `chosen` is written by the script ``choose_learning_rate.py``: JSON with ``learning_rate``.
    """
    if chosen is None:
        return dict(settings)
    try:
        rate = float(json.loads(Path(chosen).read_text(encoding="utf-8"))["learning_rate"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{chosen}: no learning rate in it ({error}); delete it and run again") from error
    return {**settings, "training": {**settings["training"], "learning_rate": rate}}
