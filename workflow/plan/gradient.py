"""For the chapter `gradient.smk`: the models that arms are compared with, and what is measured along their training."""

from collections.abc import Mapping
from typing import Any

from plan.models import by_name, full_models
from plan.settings import settings

FIRST_STEP = 64  # at which TBAT is measured: before it, TBAT of a random head is near 1 and takes seven times as long


def compared(config: Mapping[str, Any]) -> bool:
    """Whether there are differences between models that share a seed, over several seeds."""
    return len(config["seeds"]) > 1 and bool(full(config))


def full(config: Mapping[str, Any]) -> list[str]:
    """Names of the full models that arms are compared with."""
    return list(full_models(by_name(config).values()).values())


def tbat(config: Mapping[str, Any], model: str) -> dict[str, Any] | None:
    """Settings of TBAT at the snapshots of a model; None but for the full models that arms are compared with."""
    if not compared(config) or model not in full(config):
        return None
    own = config["metrics"]["tbat"]
    return settings(first_step=FIRST_STEP, **{key: own[key] for key in ("delta", "condition", "mass_tolerance")})
