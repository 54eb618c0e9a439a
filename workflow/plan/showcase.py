"""For the chapter `showcase.smk`: the models that are shown, and the settings of the windows."""

from collections.abc import Mapping
from typing import Any

from plan.models import Model, by_name
from plan.settings import settings


def of_first_seed(config: Mapping[str, Any]) -> dict[str, Model]:
    """Models whose next bytes are shown, by name: those of the first seed, the user's own, and the truths."""
    first = (None, config["seeds"][0])
    return {name: model for name, model in by_name(config).items() if model.kind == "truth" or model.seed in first}


def window_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings on which the showcase windows depend, without the names of the prompts."""
    prompts = [{key: entry.get(key) for key in ("prompt", "next")} for entry in config["showcase"]]
    return settings(prompts=prompts, tokens=config["tokens"])
