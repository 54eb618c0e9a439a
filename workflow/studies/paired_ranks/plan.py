"""Whether there are differences to be paired."""

from collections.abc import Mapping
from typing import Any

from plan.models import by_name, full_models
from plan.studies import Study


def compared(config: Mapping[str, Any]) -> bool:
    """Return whether there are differences between models that share a seed, over several seeds."""
    return len(config["seeds"]) > 1 and bool(full_models(by_name(config).values()))


STUDY = Study(needs=("imposed_rank",))
