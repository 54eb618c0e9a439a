"""The family, and full heads that learned for other numbers of steps: what a rank is compared with at equal loss."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from plan.arms import FAMILY
from plan.model_types import Trained, of_type
from plan.models import by_name, full_models, model_rows
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table

FOLDER = "equal_loss/"  # of the samples of controls, and of their quality
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


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, with the quality of samples if that study takes part."""
    rows = compared(run.config)
    if not rows:
        return
    names = [row["model"] for row in rows]
    quality: list[str] = []
    if "sample_quality" in run.config["studies"]:
        from studies.sample_quality import plan as judging  # without which the study can do

        ranked = [row["model"] for row in rows if row["kind"] == FAMILY.kind]
        controls = [name for name in names if name not in ranked]
        quality = run.of(judging.quality(run), ranked) + run.of(judging.quality(run), controls, FOLDER)
    yield Table(
        "equal_loss_table",
        "show.py",
        {
            "histories": run.of(run.history, names),
            "logits": run.of(run.logits, names),
            "scores": run.scores(AGAINST_TRUTHS, names),
            "quality": quality,
        },
        settings(models=rows, truths=run.truths),
        table=Shown("equal_loss", "0 Findings", "Ranks at equal loss: the numbers"),
        figure=Shown("equal_loss", "0 Findings", "Ranks at equal loss"),
    )


STUDY = Study(tables=tables, after=("sample_quality",))
