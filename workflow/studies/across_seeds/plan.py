"""Groups of equals: models that differ in nothing but their seed."""

from collections.abc import Mapping
from typing import Any

from plan.model_types import Trained, of_type
from plan.models import by_name, full_models
from plan.studies import Study

FULL, TRUTHS = "full models", "truths"


def equals(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return groups of at least two models that differ in their seed alone: full models of the family, and truths."""
    known = by_name(config)
    truths: dict[str, list[str]] = {}
    for model in of_type(Trained, known):
        if model.kind == "truth":
            alike = {key: value for key, value in model.settings.items() if key != "seed"}
            truths.setdefault(repr(alike), []).append(model.name)
    groups = {FULL: list(full_models(known.values()).values()), TRUTHS: max(truths.values(), key=len, default=[])}
    return {name: models for name, models in groups.items() if len(models) > 1}


def others(groups: Mapping[str, list[str]], model: str) -> list[str]:
    """Return the equals of a model."""
    return [other for models in groups.values() if model in models for other in models if other != model]


STUDY = Study(tested={"across_seeds": ()})
