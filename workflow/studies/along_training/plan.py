"""The trainings whose snapshots are measured, and at which of them TBAT is."""

from collections.abc import Iterable, Mapping
from typing import Any

from plan.arms import SCORED
from plan.models import Model, by_name, full_models
from plan.settings import settings
from plan.studies import Study

FIRST_STEP = 64  # at which TBAT is measured: before it, TBAT of a random head is near 1 and takes seven times as long


def followed(models: Iterable[Model]) -> list[Model]:
    """Members and arms of the family whose training keeps snapshots; truths and the user's checkpoints have none.

    Nor is a model with two heads followed: these measures see one, and the gradient of both reaches its trunk; nor one
    whose output layer is not linear: they read a head as a matrix.
    """
    return [
        model
        for model in models
        if model.kind in SCORED
        and model.settings
        and model.settings["training"]["snapshots"]
        and model.kind != "beside"
        and model.linear
    ]


def tbat(config: Mapping[str, Any], model: str) -> dict[str, Any] | None:
    """Settings of TBAT at the snapshots of a model; None but for the full models, if there are several seeds."""
    if len(config["seeds"]) == 1 or model not in full_models(by_name(config).values()).values():
        return None
    given = config["metrics"]["tbat"]
    return settings(first_step=FIRST_STEP, **{key: given[key] for key in ("delta", "condition", "mass_tolerance")})


STUDY = Study(tested={"along_training": ()})
