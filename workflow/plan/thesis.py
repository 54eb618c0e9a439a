"""Comparison with the thesis: the row of its tables beside each of ours, and how their settings differ."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from oversmoothing.numerics.log_ratio import DELTA
from oversmoothing.scores.catalogue.metrics import METRICS, TAU
from plan import studies
from plan.model_types import ByBytes, Hub, Trained
from plan.models import by_name

FAMILY_SHAPE = {"layers": 16, "heads": 16, "width": 512, "block": 1024}  # thesis 3.3 and its footnote
TRUTH_SHAPES = {"NanoGPT 300M": {"layers": 24, "heads": 16, "width": 1024, "block": 1024}}
RECIPE = {  # thesis 3.3 and its footnotes
    "initial": "gpt2", "head_rate": "same", "decay": "cosine", "max_steps": 100_000, "learning_rate": 0.0003,
    "minimum_learning_rate": 0.00003, "warmup_steps": 1000, "weight_decay": 0.1, "betas": [0.9, 0.95], "clip": 1.0,
}  # fmt: skip
SEQUENCES_PER_STEP = 256
EVABYTE = "EvaByte--EvaByte@"  # the asset at any revision
CLAIMED = {  # tables of the core that claims read, and the thesis's tables that print the same, by number
    "losses": ("3_1",),
    "oversmoothing": ("6_1",),
    "decodings_pooled": ("6_1",),
    "decodings": (),  # the same against each truth
    "svd": ("7_1", "7_2"),
    "tbat": ("e_7", "e_8"),
    "tbat_approximation": (),
    "entropy_difference": ("f_1",),
}


def compared(
    config: Mapping[str, Any], kind: str, metrics: Iterable[str] = (), itself: bool = False
) -> list[dict[str, Any]]:
    """Return rows of a table of some metrics beside the thesis's, one per model of a kind.

    They are the facts of the model, ``published_as``, and ``differs``: the settings in which it differs from the
    thesis's model of that name, out of "data" (corpus), "scale" (shape, or a shape that the config does not know),
    "recipe" (of its training), "truth" and "rank", and where one of the metrics depends on it "tau", for TBAT "delta"
    and "condition". With `itself` the numbers are of the model and not of others against it: one that others trained
    has no ``published_as``, unless it is the thesis's.
    """
    known = by_name(config)
    needed = {key for metric in metrics for key in METRICS[metric].settings}
    tbat = config["metrics"]["tbat"]
    rows = []
    for model in known.values():
        if model.kind != kind:
            continue
        shape = TRUTH_SHAPES.get(model.published_as or "") if kind == "truth" else FAMILY_SHAPE
        source = known[model.original]
        alike = shape is not None and shape.items() <= (source.shape or {}).items()
        if isinstance(model, Hub | ByBytes):
            alike = model.published_as == "EvaByte" and model.settings["asset"].startswith(EVABYTE)
        differs = {
            "data": not _is_fineweb(config["corpus"]),
            "scale": kind != "truth" and not alike,
            "recipe": isinstance(source, Trained) and not _is_thesis_recipe(source.settings["training"]),
            "truth": kind == "truth" and not alike,
            "rank": kind == "family" and model.rank is not None and str(model.rank) != model.published_as,
            "tau": "tau" in needed and config["metrics"]["tau"] != TAU,
            "delta": "delta" in needed and kind == "family" and not math.isclose(tbat["delta"], DELTA),
            "condition": "condition" in needed and kind == "family" and tbat["condition"] != "full",
        }
        elsewhere = itself and isinstance(model, Hub | ByBytes) and not alike
        published = {
            "published_as": None if elsewhere else model.published_as,
            "differs": [key for key, value in differs.items() if value],
        }
        rows.append({**model.facts, **published})
    return rows


def claimed(config: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the tables that claims read, of the core and of the config's studies, as `CLAIMED` has them."""
    return CLAIMED | studies.tested(config)


def all_truths(config: Mapping[str, Any], metrics: Iterable[str] = ()) -> dict[str, Any]:
    """Return the row "all truths", which pools all truths; the thesis prints the mean over its two."""
    truths = compared(config, "truth", metrics)
    published = {truth["published_as"] for truth in truths}
    differs = dict.fromkeys(name for truth in truths for name in truth["differs"])
    if published != {"EvaByte", "NanoGPT 300M"}:
        differs["truth"] = None
    return {"model": "all truths", "rank": None, "seed": None, "published_as": "mean", "differs": list(differs)}


def _is_thesis_recipe(training: Mapping[str, Any]) -> bool:
    per_step = training["batch"] * training["accumulation"]
    return per_step == SEQUENCES_PER_STEP and all(training[key] == value for key, value in RECIPE.items())


def _is_fineweb(corpus: Mapping[str, Any]) -> bool:
    """Return whether the text is the thesis's: FineWeb, from the hub or from a folder of that name."""
    return corpus["source"] == "fineweb" and Path(corpus["fineweb"]["repository"]).name == "fineweb"
