"""Branches: trainings under `decay: stable` that differ in their numbers of steps alone, and so share their first."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from oversmoothing.training.schedule import STABLE, but_for_length, decay_begins
from plan.model_types import Model, Trained
from plan.settings import settings


def trunks(models: Iterable[Model]) -> dict[str, Trained]:
    """Return the trunk of each branch by the branch's name; a trunk has the name of its longest branch.

    A trunk learns until the decay of its longest branch begins, and keeps its state where that of each begins. A
    training that differs from no other in its number of steps alone is no branch.
    """
    together: dict[str, list[Trained]] = {}
    for model in models:
        if isinstance(model, Trained) and model.settings["training"]["decay"] == STABLE:
            shared = json.dumps([but_for_length(model.settings), model.processes], sort_keys=True)
            together.setdefault(shared, []).append(model)
    shared_by = [(_trunk(branches), branches) for branches in together.values() if len(branches) > 1]
    return {branch.name: trunk for trunk, branches in shared_by for branch in branches}


def mistakes(models: Iterable[Model]) -> Iterator[str]:
    """Yield messages about trainings under `decay: stable` that cannot be, or cannot branch off another."""
    known = list(models)
    for model in known:
        training: Mapping[str, Any] = model.settings["training"] if isinstance(model, Trained) else {"decay": None}
        if training["decay"] == STABLE and decay_begins(training) < max(1, training["warmup_steps"]):
            yield (
                f"training.decay_share: {training['decay_share']} of the {training['max_steps']} steps of {model.name} "
                f"begins before the warm-up of {training['warmup_steps']} steps ends; lower it or training.warmup_steps"
            )
    branches = trunks(known)
    if branches and any(trunk.settings["training"]["snapshots"] for trunk in branches.values()):
        yield "training.snapshots: write false with decay: stable; steps before a decay are those of another training"
    if any("learning_rate" not in trunk.settings["training"] for trunk in branches.values()):
        yield "learning_rates.tried: write [] with decay: stable and several max_steps; these share their first steps"


def _trunk(branches: list[Trained]) -> Trained:
    longest = max(branches, key=lambda branch: branch.settings["training"]["max_steps"])
    states = sorted({decay_begins(branch.settings["training"]) for branch in branches})
    stable = {"max_steps": states[-1], "decay_share": 0, "states": states}
    training = {**longest.settings["training"], **stable}
    return replace(longest, settings=settings(**{**longest.settings, "training": training}))
