"""The learning rate that trials of several chose for a training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.sealed_json import read_sealed


def with_rate(settings: Mapping[str, Any], chosen: str | Path | None) -> dict[str, Any]:
    """Return the settings of a training with the peak learning rate in a file, or as they are without a file."""
    if chosen is None:
        return dict(settings)
    rate = read_choice(chosen)["learning_rate"]
    return {**settings, "training": {**settings["training"], "learning_rate": rate}}


def read_choice(path: str | Path) -> dict[str, Any]:
    """Read ``arm``, ``losses`` by learning rate (six digits) and the chosen ``learning_rate`` from ``{arm}.json``.

    A `UserError` if the file is missing or damaged, or that of another arm.
    """
    try:
        choice = read_sealed(path)
        losses = {str(tried): float(loss) for tried, loss in choice["losses"].items()}
        rate = float(choice["learning_rate"])
        losses[f"{rate:g}"]  # it was tried
        return {"arm": str(choice["arm"]), "learning_rate": rate, "losses": losses}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        fault = file_fault(error) or f"no learning rate in it ({error}); delete it and run again"
        raise UserError(f"{path}: {fault}") from error
