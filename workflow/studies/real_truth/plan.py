"""The family and the truths that it is held against; nothing without a truth over tokens and several seeds."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from plan.model_types import ByBytes, Trained, of_type
from plan.models import by_name, model_rows
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table


def members(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return facts of the members of the family that have a rank and a seed."""
    return [row for row in model_rows(by_name(config), "family") if None not in (row["rank"], row["seed"])]


def truths(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return names of the truths: ``own``, those trained here, and ``real``, byte views of models over tokens.

    ``main`` are the first own one and, of each real model, the first view.
    """
    known = by_name(config)
    own = [model.name for model in of_type(Trained, known) if model.kind == "truth"]
    views = [model for model in of_type(ByBytes, known) if model.kind == "truth"]
    first: dict[str, str] = {}
    for model in views:
        first.setdefault(model.settings["asset"], model.name)
    return {"own": own, "real": [model.name for model in views], "main": [*own[:1], *first.values()]}


def compared(config: Mapping[str, Any]) -> bool:
    """Return whether there is what the study compares: both kinds of truth, and several seeds."""
    return all(truths(config).values()) and len({row["seed"] for row in members(config)}) > 1


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, if there is something to compare."""
    if not compared(run.config):
        return
    rows = members(run.config)
    names = [row["model"] for row in rows]
    with_best = run.config["metrics"]["forced"]["best_head_per_window"]
    yield Table(
        "real_truth_table",
        "table.py",
        {
            "scores": run.scores(AGAINST_TRUTHS, names),
            "truths": run.scores(AGAINST_TRUTHS, run.truths),
            "forced": run.scores(["forced"], names),
            "best_heads": run.scores(["best_head"], names) if with_best else [],
        },
        settings(**run.config["statistics"], models=rows, truths=truths(run.config)),
        table=Shown("real_truth", "0 Findings", "Against a real language model: the numbers"),
        figure=Shown("real_truth", "0 Findings", "Against a real language model"),
    )


STUDY = Study(tables=tables, needs=("forced_part",))
