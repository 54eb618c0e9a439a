"""The models whose losses the law is fitted to, those compared with it, and mistakes in the section `saturation`."""

from collections.abc import Iterator, Mapping
from typing import Any

from plan.model_types import Model, Trained, of_type
from plan.models import by_name
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from plan.tokens import unit


def trained_models(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[Trained]:
    """Return models trained here whose histories are included."""
    trained = [model for model in of_type(Trained, models) if model.kind in ("family", "truth")]
    return trained if config["saturation"]["study"] else []


def fitted_names(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[str]:
    """Return names of the models that the law of losses is fitted to: by default those without a bottleneck.

    These are the trained truths, the members whose rank equals their width, and the user's histories (whose shape is
    unknown).
    """
    if config["saturation"]["fitted"] is not None:
        return list(config["saturation"]["fitted"])
    shapes = {model.name: model.shape for model in trained_models(config, models)}
    free = [name for name, shape in shapes.items() if shape["rank"] in (None, shape["width"])]
    return free + [entry["name"] for entry in config["saturation"]["histories"]]


def models_in_table(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[dict[str, Any]]:
    """Return rows of the table: the facts of each model, without the rank of a truth, which is listed by name."""
    trained = trained_models(config, models)
    rows = [model.facts | {"rank": model.rank if model.kind == "family" else None} for model in trained]
    others = [entry["name"] for entry in config["saturation"]["histories"]]
    return rows + [{"model": name, "rank": None, "seed": None} for name in others]


def fit_settings(config: Mapping[str, Any], models: Mapping[str, Model]) -> dict[str, Any]:
    """Return settings on which the fit of the law of losses depends."""
    names = [model.name for model in trained_models(config, models)]
    chosen = {"study": names, "fitted": fitted_names(config, models)}
    return settings(**config["saturation"] | chosen, unit=unit(config))


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Check that the names of histories are unique, and that those to be fitted exist."""
    section, known = config["saturation"], by_name(config)
    given = [entry["name"] for entry in section["histories"]]
    for name in given:
        if name in known or given.count(name) > 1:
            yield f"saturation.histories: {name} is listed twice, or is a model of the study; give it another name"
    if not section["study"] and not given:
        yield "saturation.study: false leaves nothing to fit; name files in saturation.histories, or write true"
    there = [*(model.name for model in trained_models(config, known)), *given]
    for name in section["fitted"] or []:
        if name not in there:
            yield f"saturation.fitted: there is no history of {name!r}; there are {', '.join(there) or 'none'}"


def files(config: Mapping[str, Any]) -> dict[str, str]:
    """Return paths of the user's histories, by key."""
    given = config["saturation"]["histories"]
    return {f"saturation.histories.{i}.path": entry["path"] for i, entry in enumerate(given)}


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, if there are models."""
    if rows := models_in_table(run.config, run.models):
        yield Table(
            "saturation_table",
            "table.py",
            {part: f"{run.results}/saturation/{part}.parquet" for part in ("law", "points")},
            settings(models=rows, truths=run.truths),
            table=Shown("saturation", "8 Small models", "Saturation: how far above the law models end"),
            figure=Shown("saturation", "8 Small models", "Saturation: losses and the law"),
        )


STUDY = Study(mistakes, files, tables=tables, tested={"saturation": ()})
