"""The family, and full heads that learned for other numbers of steps: what a rank is compared with at equal loss."""

from collections.abc import Mapping
from typing import Any

from plan.arms import FAMILY
from plan.model_types import Trained, of_type
from plan.models import by_name, full_models, model_rows
from plan.studies import Study

SHORTER = "shorter"
OTHERS = ("context", "layers")  # full heads that predict worse for another reason, after as many steps


def compared(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return facts of the family and its controls: full heads of other ``steps``, and others of as many.

    There are none without a lower rank and a control of other steps.
    """
    trained = {model.name: model for model in of_type(Trained, by_name(config))}
    full = {trained[name].rank for name in full_models(trained.values()).values()}
    rows = [
        {**row, "steps": trained[row["model"]].settings["training"]["max_steps"]}
        for row in model_rows(trained, FAMILY.kind, SHORTER, *OTHERS)
        if row["kind"] == FAMILY.kind or row["rank"] in full
    ]
    there = {(row["kind"], row["rank"] in full) for row in rows}
    return rows if {(FAMILY.kind, False), (SHORTER, True)} <= there else []


STUDY = Study(after=("sample_quality",))
