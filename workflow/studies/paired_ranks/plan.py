"""Whether there are differences to be paired, and the full models that the others are compared with."""

from collections.abc import Mapping
from typing import Any

from plan.models import by_name, full_models
from plan.studies import Study


def compared(config: Mapping[str, Any]) -> bool:
    """Whether there are differences between models that share a seed, over several seeds."""
    return len(config["seeds"]) > 1 and bool(full(config))


def full(config: Mapping[str, Any]) -> list[str]:
    """Names of the full models that the others are compared with."""
    return list(full_models(by_name(config).values()).values())


STUDY = Study(needs=("along_training", "imposed_rank"))
