"""The family and the truths that it is held against; nothing without a truth over tokens and several seeds."""

from collections.abc import Mapping
from typing import Any

from plan.models import by_name, model_rows, names
from plan.studies import Study


def members(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Facts of the members of the family that have a rank and a seed."""
    return [row for row in model_rows(by_name(config), "family") if None not in (row["rank"], row["seed"])]


def truths(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the truths: ``own``, those trained here, and ``real``, byte views of models over tokens."""
    known = by_name(config)
    all_truths = names(known, "truth")
    return {
        "own": [name for name in all_truths if known[name].settings],
        "real": [name for name in all_truths if known[name].byte_view],
    }


def compared(config: Mapping[str, Any]) -> bool:
    """Whether there is what the study compares: both kinds of truth, and several seeds."""
    return all(truths(config).values()) and len({row["seed"] for row in members(config)}) > 1


STUDY = Study(needs=("forced_part",))
