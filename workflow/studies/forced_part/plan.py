"""The models whose logits are linear maps to the truths' tokens, and the tables of what their heads force."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from plan import studies
from plan.model_types import DerivedHead, Hub, Model
from plan.models import by_name, capped, model_rows
from plan.run import Run
from plan.settings import settings
from plan.table import Shown, Table
from plan.tokens import over_bytes


def scored_models(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows of the tables: ``model``, ``kind``, ``rank``, ``seed``; the family first.

    Over bytes, models from the hub are not among them: their bytes have other probabilities than their heads give. Nor
    are those whose logits are capped, and truncated and retrained heads of ranks above `metrics.forced.derived_up_to`.
    """
    highest = config["metrics"]["forced"]["derived_up_to"] or math.inf
    known, without = by_name(config) | studies.models(config), capped(config)
    kinds = dict.fromkeys(arm.kind for arm in studies.arms(config))

    def has_forced_part(model: Model) -> bool:
        fetched = over_bytes(config) and isinstance(known[model.original], Hub)
        too_high = isinstance(model, DerivedHead) and (model.rank or 0) > highest
        return model.linear and model.name not in without and not fetched and not too_high

    return [row for row in model_rows(known, *kinds) if has_forced_part(known[row["model"]])]


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield messages about names in the settings that no truth has."""
    truths = [entry["name"] for entry in config["truths"]]
    for name in config["metrics"]["forced"]["best_head_truths"] or []:
        if name not in truths:
            yield f"metrics.forced.best_head_truths: no truth is called {name!r}; there are {', '.join(truths)}"


def tables(run: Run) -> Iterator[Table]:
    """Yield what heads force, of the family and of the others, and what best heads do."""
    rows, statistics = scored_models(run.config), run.config["statistics"]
    family, others = ([row for row in rows if (row["kind"] == "family") == of_family] for of_family in (True, False))

    def scores(metric: str, models: list[dict[str, Any]]) -> dict[str, list[str]]:
        return {"scores": run.scores([metric], [row["model"] for row in models])}

    if family:
        title = "What the head forces of the distance from a truth, and what it does not."
        yield Table(
            "forced_table",
            "table.py",
            scores("forced", family),
            settings(**statistics, title=title, models=family),
            table=Shown("forced", "0 Findings", "What the head forces, and what it does not"),
            figure=Shown("forced", "0 Findings", "What the head forces, drawn"),
        )
    if others:
        title = "What the heads of other ways to impose a rank force of the distance from a truth."
        yield Table(
            "forced_heads_table",
            "table.py",
            scores("forced", others),
            settings(**statistics, title=title, models=others),
            Shown("forced_heads", "8 Small models", "Ways to impose a rank: what these heads force"),
        )
    if family and run.config["metrics"]["forced"]["best_head_per_window"]:
        yield Table(
            "best_head_table",
            "best_head_table.py",
            scores("best_head", family),
            settings(**statistics, models=family),
            Shown("best_head", "0 Findings", "What a rank forces, and what trained heads add"),
        )


STUDY = studies.Study(mistakes=mistakes, tables=tables, tested={"forced": ()})
