"""The family and the truths that it is held against; nothing without a truth over tokens and several seeds."""

from collections.abc import Mapping
from typing import Any

from plan.model_types import ByBytes, Model, Trained, of_type
from plan.models import by_name, model_rows
from plan.studies import Study


def members(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return facts of the members of the family that have a rank and a seed."""
    return [row for row in model_rows(by_name(config), "family") if None not in (row["rank"], row["seed"])]


def truths(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return names of the truths: ``own``, those trained here, and ``real``, byte views of models over tokens."""
    forms: dict[str, type[Model]] = {"own": Trained, "real": ByBytes}
    known = by_name(config)
    return {
        what: [model.name for model in of_type(form, known) if model.kind == "truth"] for what, form in forms.items()
    }


def compared(config: Mapping[str, Any]) -> bool:
    """Return whether there is what the study compares: both kinds of truth, and several seeds."""
    return all(truths(config).values()) and len({row["seed"] for row in members(config)}) > 1


STUDY = Study(needs=("forced_part",))
