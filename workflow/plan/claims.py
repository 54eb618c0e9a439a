"""For the chapter `claims.smk`: the models that claims compare."""

from collections.abc import Mapping
from typing import Any

from plan import studies
from plan.models import by_name


def compared_models(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the models that claims compare.

    Returns
    -------
    list of dict
        ``model``, ``kind``, ``rank``; ``role``, the thesis's rank that the model stands for (`published_as`; its own
        rank for a head made from another), None if that is not a number; ``training``, the model whose training it is
        from.
    """
    tested = {"truth", *(arm.kind for arm in studies.arms(config) if arm.tested)}
    return [
        {
            "model": model.name,
            "kind": model.kind,
            "rank": model.rank,
            "role": int(model.published_as) if model.published_as and model.published_as.isdigit() else None,
            "training": model.source or model.name,
        }
        for model in (by_name(config) | studies.models(config)).values()
        if model.kind in tested
    ]
