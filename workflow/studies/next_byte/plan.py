"""The models that are shown, the settings of the windows of prompts, and mistakes in the section `showcase`."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from plan.model_types import Model, Trained, of_type
from plan.models import by_name, model_rows, names, truncated_model, with_truncated_heads
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from plan.texts import Text
from plan.tokens import over_bytes

SHOWCASE = "showcase/"


def of_first_seed(config: Mapping[str, Any]) -> dict[str, Model]:
    """Return models whose next bytes are shown, by name: those of the first seed, the user's own, and the truths."""
    first = (None, config["seeds"][0])
    return {name: model for name, model in by_name(config).items() if model.kind == "truth" or model.seed in first}


def window_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings on which the showcase windows depend, without the names of the prompts."""
    prompts = [{key: entry.get(key) for key in ("prompt", "next")} for entry in config["showcase"]]
    return settings(prompts=prompts, tokens=config["tokens"])


def figures(config: Mapping[str, Any], unit: str) -> list[dict[str, Any]]:
    """Return titles and models of the figures of a prompt: of all models, and of truncated heads if there are any."""
    shown = of_first_seed(config)
    given = [("what each model expects, by rank of what enters its LM head", model_rows(shown, "truth", "family"))]
    if names(shown, "svd"):
        truncated = f"what {truncated_model(config)} expects, by rank to which its head was truncated (SVD)"
        given.append((truncated, model_rows(with_truncated_heads(shown), "truth", "svd", "family")))
    return [{"title": f"The {unit} after a prompt: {title}", "models": models} for title, models in given]


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Check that each prompt has one correct next byte and a unique name, and fits every model trained here."""
    names = [entry["name"] for entry in config["showcase"]]
    for i, entry in enumerate(config["showcase"]):
        name, prompt, following = entry["name"], entry["prompt"], entry.get("next")
        if names.count(name) > 1:
            yield f"showcase.{i}: {name} is listed twice; figures go by that name"
        if (prompt is None) != (following is None):
            yield f"showcase.{i}: {name} needs both `prompt` and `next`, or neither (`prompt: null`)"
        if prompt is None or following is None or not over_bytes(config):
            continue  # of tokens only the tokenizer knows how many there are
        if (count := len(following.encode())) != 1:
            yield f"showcase.{i}.next: {following!r} of {name} has {count} bytes; write the one that follows the prompt"
        length = len(prompt.encode())
        for model in of_type(Trained, by_name(config)):
            if length > (block := model.shape["block"]):
                yield (
                    f"showcase.{i}: the prompt of {name} has {length} bytes, and the block of {model.name} {block}; "
                    "shorten the prompt or raise model.block"
                )


def texts_read(run: Run) -> Iterator[Text]:
    """Yield the prompts, which all models of the run read."""
    truths = dict(zip(run.truths, run.of(run.logits, run.truths, SHOWCASE), strict=True))
    yield Text(SHOWCASE, f"{run.results}/{SHOWCASE}windows.parquet", run.weights, truths, few=True)


def tables(run: Run) -> Iterator[Table]:
    """Yield the table with figures of each prompt, one panel per model, so of the first seed; and the illustration."""
    shown = of_first_seed(run.config)
    prompts = [entry["name"] for entry in run.config["showcase"]]
    family, truncated = names(shown, "family"), names(shown, "svd")
    read = {"vocabulary": run.vocabulary, "windows": run.texts[SHOWCASE].windows}

    def of_prompts(name: str, chapter: str, label: str) -> list[Shown]:
        words = f"{label}: the {run.unit} after the prompt"
        return [Shown(f"{name}_{prompt}", chapter, f"{words} {prompt}") for prompt in prompts]

    yield Table(
        "next_byte_table",
        "table.py",
        {
            **read,
            "logits": run.of(run.logits, names(shown, "truth", "family", "svd"), SHOWCASE),
            "scores": [
                *run.scores(AGAINST_TRUTHS, [*family, *truncated], SHOWCASE),
                *run.scores(["tbat"], [name for name in family if name in run.linear], SHOWCASE),
            ],
        },
        settings(
            names=prompts, models=model_rows(shown, "truth", "family", "svd"), figures=figures(run.config, run.unit)
        ),
        Shown("next_byte", "4 Oversmoothing", f"Beside Figures 4.1, 7.1: the {run.unit} after a prompt"),
        figures={
            "family": of_prompts("next_byte", "4 Oversmoothing", "Figure 4.1"),
            "truncated": of_prompts("next_byte_svd", "7 Rank", "Figure 7.1") if run.truncated else [],
        },
    )
    yield Table(
        "oversmoothing_illustrated",
        "illustrated.py",
        {**read, "logits": run.of(run.logits, family, SHOWCASE), "table": run.table("oversmoothing")},
        settings(unit=run.unit, models=model_rows(shown, "family")),
        figure=Shown("oversmoothing_illustrated", "1 Introduction", "Figure 1.1: what oversmoothing is"),
    )


STUDY = Study(mistakes, texts_read=texts_read, tables=tables)
