"""The trunks that learn on: of narrow heads and gradients, of the full model, and of full models that were stopped."""

from collections.abc import Iterator, Mapping
from typing import Any

from plan import tokens
from plan.model_types import Trained, of_type
from plan.models import by_name, full_models, model_rows, used
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table

FULL_KINDS = ("family", "shorter")
NARROW_KINDS = ("plain", "backward")
OTHER_BATCHES = 1000  # above a model's seed: the batches are not those that it began with


def trunks(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return facts of the models whose trunks learn on; none without a narrow one and a full one that was stopped."""
    trained = {model.name: model for model in of_type(Trained, by_name(config)) if model.kind != "truth"}
    full = full_models(trained.values())
    rows = [
        row
        for row in model_rows(trained, *FULL_KINDS, *NARROW_KINDS)
        if row["seed"] in full and (row["kind"] in NARROW_KINDS or row["rank"] == trained[full[row["seed"]]].rank)
    ]
    return rows if {*FULL_KINDS} < {row["kind"] for row in rows} else []


def learning_settings(config: Mapping[str, Any], model: Trained) -> dict[str, Any]:
    """Return settings on which depends what a model's trunk shows once it has learned on."""
    section = config["narrow_trunk"]
    schedule = {key: section[key] for key in ("learning_rate", "warmup_steps", "steps")}
    dropped = ("processes", "max_steps", "patience", "snapshots", "compile")
    training = {key: value for key, value in used(config["training"]).items() if key not in dropped}
    whole = model.name in full_models(of_type(Trained, by_name(config))).values()
    return settings(
        training={**training, **schedule, "backward_rank": None},
        seed=model.settings["seed"] + OTHER_BATCHES,
        parts=[*section["parts"], *(["scratch"] if whole else [])],
        windows=section["windows"],
        batch=tokens.inference(config)["batch"],
        tau=config["metrics"]["tau"],
        truths=[entry["name"] for entry in config["truths"]],
    )


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message about steps that do not increase."""
    steps = config["narrow_trunk"]["steps"]
    if sorted(set(steps)) != steps:
        yield f"narrow_trunk.steps: {steps} do not increase; sort them, each once"


def learned_on(run: Run) -> str:
    """Return the file of what a model's trunk shows, by ``{model}``."""
    return f"{run.results}/narrow_trunk/{{model}}.parquet"


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, if there are trunks to compare."""
    if rows := trunks(run.config):
        yield Table(
            "narrow_trunk_table",
            "show.py",
            {"learned_on": run.of(learned_on(run), [row["model"] for row in rows])},
            settings(models=rows, unit=run.unit),
            table=Shown("narrow_trunk", "0 Findings", "What the trunk behind a low rank lacks: the numbers"),
            figure=Shown("narrow_trunk", "0 Findings", "What the trunk behind a low rank lacks"),
        )


STUDY = Study(mistakes=mistakes, tables=tables)
