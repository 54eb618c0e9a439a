"""For the chapters `samples.smk` and `hub_truths.smk`: the samples that are drawn, and their settings."""

from collections.abc import Iterable, Mapping
from typing import Any

from oversmoothing.scores.decoding import decoding_name
from plan.arms import ALONE
from plan.model_types import ByBytes, Hub, Model
from plan.models import by_name
from plan.settings import settings


def judged_decodings(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return decodings whose samples are judged, by model.

    Of truncated heads that is only `pure` (Table H.1), of arms and byte views none.
    """
    decodings = [decoding_name(entry) for entry in (*config["decodings"], *config["samples"]["decodings"])]
    judged = [model for model in by_name(config).values() if model.kind not in ALONE and not isinstance(model, ByBytes)]
    return {model.name: ["pure"] if model.kind == "svd" else decodings for model in judged}


def sampling_settings(
    config: Mapping[str, Any], decodings: Iterable[Mapping[str, Any]], model: Model | None = None
) -> dict[str, Any]:
    """Return settings on which samples under the given decodings depend, including those of a truth from the hub."""
    inference = config["inference"]
    chosen = {
        "decodings": list(decodings),
        "batch": config["samples"]["batch"],
        "seed": config["samples"]["seed"],
        "precision": inference["precision"],
        "threads": inference["threads"],
    }
    return settings(**chosen | (model.settings if isinstance(model, Hub) else {}))
