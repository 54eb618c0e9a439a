"""Settings of the trainings, and mistakes in the section `repeated_symbols`."""

from collections.abc import Iterator, Mapping
from typing import Any

from plan.settings import settings
from plan.studies import Study


def training_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings on which the trainings depend."""
    return settings(**config["repeated_symbols"])


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Check that batches are whole, that rank and heads fit the width, and that the seed of trials is apart."""
    section = config["repeated_symbols"]
    for v in section["vocabularies"]:
        if v % section["steps_per_draw"]:
            yield (
                f"repeated_symbols.vocabularies: {v} is no multiple of steps_per_draw, {section['steps_per_draw']}; "
                "a step draws vocabulary / steps_per_draw symbols"
            )
    if section["vocabularies"] and len(set(section["vocabularies"])) < 2:
        yield "repeated_symbols.vocabularies: one is compared with nothing; list at least two, or none ([])"
    if section["rank"] >= section["width"]:
        yield f"repeated_symbols.rank: {section['rank']} must be below the width, {section['width']}"
    if section["width"] % (2 * section["heads"]):
        yield f"repeated_symbols.width: {section['width']} is no multiple of twice the heads, {section['heads']}"
    if section["trial_seed"] in section["seeds"]:
        yield f"repeated_symbols.trial_seed: {section['trial_seed']} is in seeds; learning rates need one of their own"


STUDY = Study(mistakes)
