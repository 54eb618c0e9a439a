"""Groups of equals: models that differ in nothing but their seed."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from plan.model_types import Trained, of_type
from plan.models import by_name, full_models
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table

FULL, TRUTHS = "full models", "truths"


def equals(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return groups of at least two models that differ in their seed alone: full models of the family, and truths."""
    known = by_name(config)
    truths: dict[str, list[str]] = {}
    for model in of_type(Trained, known):
        if model.kind == "truth":
            alike = {key: value for key, value in model.settings.items() if key != "seed"}
            truths.setdefault(repr(alike), []).append(model.name)
    groups = {FULL: list(full_models(known.values()).values()), TRUTHS: max(truths.values(), key=len, default=[])}
    return {name: models for name, models in groups.items() if len(models) > 1}


def others(groups: Mapping[str, list[str]], model: str) -> list[str]:
    """Return the equals of a model."""
    return [other for models in groups.values() if model in models for other in models if other != model]


def scores(run: Run, metric: str) -> str:
    """Return the file of a metric of a model against its equals, with the wildcard {model}."""
    return f"{run.results}/scores/across_seeds/{metric}/{{model}}.parquet"


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, where there are several seeds."""
    groups = equals(run.config)
    if run.replicated:
        yield Table(
            "across_seeds_table",
            "show.py",
            {
                "scores": run.scores(["tto"], [row["model"] for row in run.replicated]),
                "windows": run.window_means,
                "equals": [
                    scores(run, metric).format(model=model)
                    for metric in AGAINST_TRUTHS
                    for models in groups.values()
                    for model in models
                ],
            },
            settings(models=run.replicated, equals=groups),
            table=Shown("across_seeds", "8 Small models", "Across seeds: the numbers"),
            figure=Shown("across_seeds", "8 Small models", "Across seeds"),
        )


STUDY = Study(tables=tables, tested={"across_seeds": ()})
