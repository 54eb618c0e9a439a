"""The models that are compared: linear heads, other output layers, other objectives, and the control at equal loss."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.models.gpt_shape import head_multiplied, head_products
from oversmoothing.models.output_kinds import NOT_LINEAR
from oversmoothing.training.objectives import OBJECTIVES
from plan.model_types import Model, Trained
from plan.models import by_name
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from studies.known_law import plan as known_law
from studies.other_explanations.kinds import LINEAR_HEADS, MEASURED, OTHER_HEADS, SHORTER

COMPARED = (LINEAR_HEADS, SHORTER, *OTHER_HEADS, *OBJECTIVES)


def rows(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return facts of the members of the family that are compared; none without another output layer or objective."""
    return [row for model in by_name(config).values() if (row := of_model(model))] if compared(config) else []


def compared(config: Mapping[str, Any]) -> bool:
    """Return whether there are linear heads and others to be compared with them, with several seeds."""
    kinds = {model.kind for model in by_name(config).values() if of_model(model)}
    others = kinds & {*NOT_LINEAR, *OBJECTIVES}
    return len(config["seeds"]) > 1 and LINEAR_HEADS in kinds and bool(others)


def of_model(model: Model) -> dict[str, Any] | None:
    """Return what the table says of a model and its head; None of one that is not compared."""
    if model.kind not in COMPARED or not isinstance(model, Trained):
        return None
    size = {"parameters": head_multiplied(model.shape), "products": head_products(model.shape)}
    return {**model.facts, **size, "steps": model.settings["training"]["max_steps"]}


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield messages about two texts of one law, which the table does not tell apart."""
    laws = [text["law"] for text in config["known_law"]["texts"] if text.get("arms")]
    for law in sorted({law for law in laws if laws.count(law) > 1}):
        yield f"known_law.texts: two of the law {law!r} have `arms`; leave one with them"


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, with what models that learned the text of a law say."""
    explained = rows(run.config)
    if not explained:
        return
    names = [row["model"] for row in explained]
    laws = known_law.laws(run.config)
    texts = {name: text for name, text in known_law.texts(run.config).items() if text.arms}
    learners = {  # of each text, what the table says of the models that learned it
        name: [row for model in known_law.learners(run.config, text).values() if (row := of_model(model))]
        for name, text in texts.items()
    }
    read = {known_law.folder(text): [row["model"] for row in of] for text, of in learners.items()}
    yield Table(
        "explanations_table",
        "show.py",
        {
            "logits": run.of(run.logits, names),
            "scores": run.scores(MEASURED, names),
            "of_laws": [path for text, models in read.items() for path in run.scores(MEASURED, models, text)],
            "truth": run.logits.format(model=run.truths[0]),
            "laws": [run.texts[text].truths[known_law.LAW] for text in read],
            "learned": [path for text, models in read.items() for path in run.of(run.logits, models, text)],
        },
        settings(
            truth=run.truths[0],
            tau=run.config["metrics"]["tau"],
            models=explained,
            with_zeros=[text.law for text in texts.values() if laws[text.law].has_zeros],
            learners={name: {"law": text.law, "models": learners[name]} for name, text in texts.items()},
        ),
        table=Shown("explanations", "9 Gradient", "What other output layers and objectives are worth"),
        figure=Shown("explanations", "9 Gradient", "What other output layers and objectives are worth"),
    )


STUDY = Study(mistakes=mistakes, tables=tables, needs=("forced_part", "imposed_rank", "known_law"))
