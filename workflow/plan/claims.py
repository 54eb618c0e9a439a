"""For the chapter `claims.smk`: the models that claims compare."""

from collections.abc import Mapping
from typing import Any

from plan.models import ARMS, by_name, retrained_heads


def compared_models(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the models that claims compare; of the retrained heads only those without a LayerNorm (Godey et al.).

    Returns
    -------
    list of dict
        ``model``, ``kind``, ``rank``; ``role``, the thesis's rank that the model stands for (`published_as`; its own
        rank for a retrained head), None if that is not a number; ``training``, the model whose training it is from.
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
        if model.kind not in ("normed", *ARMS)
    ]
