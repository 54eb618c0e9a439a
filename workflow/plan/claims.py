"""For the chapter `claims.smk`: what claims compare models by."""

from collections.abc import Mapping
from typing import Any

from plan.models import by_name, retrained_heads


def rows(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the models that claims compare; of retrained heads Godey et al.'s alone, which have no LayerNorm.

    Returns
    -------
    list of dict
        ``model``, ``kind``, ``rank``; ``role``, the thesis's rank that it stands for (`published_as`; a retrained head
        has its own), None if that is no number; ``training``, the model whose training it comes from.
    """
    return [
        {
            "model": model.name,
            "kind": model.kind,
            "rank": model.rank,
            "role": int(model.published_as) if model.published_as and model.published_as.isdigit() else None,
            "training": model.source or model.name,
        }
        for model in (by_name(config) | retrained_heads(config)).values()
        if model.kind != "normed"
    ]
