"""The models whose heads are linear maps to the truths' tokens, and how each is read."""

from collections.abc import Mapping
from typing import Any

from plan.models import SCORED, by_name, model_rows, retrained_heads
from plan.studies import Study
from plan.tokens import over_bytes

HEADS = (*SCORED, "svd", "retrained", "normed")


def rows(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the tables: ``model``, ``kind``, ``rank``, ``seed``; the family first.

    Over bytes, models from the hub are not among them: their bytes have other probabilities than their heads give.
    """
    known = by_name(config) | retrained_heads(config)
    return [
        row
        for row in model_rows(known, *HEADS)
        if not (over_bytes(config) and known[known[row["model"]].source or row["model"]].hub)
    ]


def head(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """How the head of a model is read: ``kind`` and ``rank``, which a truncated one needs."""
    model = (by_name(config) | retrained_heads(config))[name]
    return {"kind": model.kind, "rank": model.rank if model.kind == "svd" else None}


STUDY = Study()
