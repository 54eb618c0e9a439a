"""For the chapter `saturation.smk`: the models whose losses the law is fitted to, and those compared with it."""

from collections.abc import Mapping
from typing import Any

from plan.models import Model
from plan.settings import settings
from plan.tokens import over_bytes


def trained_models(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[Model]:
    """Models trained here whose histories are included."""
    trained = [model for model in models.values() if model.settings and model.kind in ("family", "truth")]
    return trained if config["saturation"]["study"] else []


def fitted_names(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[str]:
    """Names of the models that the law of losses is fitted to: by default those without a bottleneck.

    These are the trained truths, the members whose rank equals their width, and the user's histories (whose shape is
    unknown).
    """
    if config["saturation"]["fitted"] is not None:
        return list(config["saturation"]["fitted"])
    shapes = {model.name: (model.settings or {})["model"] for model in trained_models(config, models)}
    free = [name for name, shape in shapes.items() if shape["rank"] in (None, shape["width"])]
    return free + [entry["name"] for entry in config["saturation"]["histories"]]


def rows(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[dict[str, Any]]:
    """Rows of the saturation table: ``model``, ``rank`` (None for a truth, which is listed by name), ``seed``."""
    own = [
        {"model": model.name, "rank": model.rank if model.kind == "family" else None, "seed": model.seed}
        for model in trained_models(config, models)
    ]
    others = [entry["name"] for entry in config["saturation"]["histories"]]
    return own + [{"model": name, "rank": None, "seed": None} for name in others]


def fit_settings(config: Mapping[str, Any], models: Mapping[str, Model]) -> dict[str, Any]:
    """Settings on which the fit of the law of losses depends."""
    own = {
        "study": [model.name for model in trained_models(config, models)],
        "fitted": fitted_names(config, models),
    }
    return settings(**config["saturation"] | own, **({} if over_bytes(config) else {"unit": "token"}))
