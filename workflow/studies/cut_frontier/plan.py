"""The models whose frontiers are compared, and the mistakes of a config."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.scores.catalogue.decoders import maps, method
from plan.models import capped
from plan.studies import Study

Config = Mapping[str, Any]
NO_CUTS = ("greedy", "pure", "temperature")


def mistakes(config: Config) -> Iterator[str]:
    """Yield messages about methods that are none, values out of range, and a reference that is not compared."""
    section = config["frontier"]
    known = [name for name in maps() if name not in NO_CUTS]
    for name, values in section["methods"].items():
        if name not in known:
            yield f"frontier.methods: {name!r} is no method that cuts; use some of {', '.join(known)}"
            continue
        parameters = method(name).parameters
        if not parameters and values:
            yield f"frontier.methods.{name}: it has no parameter; write []"
        if parameters and len(values) < 2:
            yield f"frontier.methods.{name}: a curve needs two values of {parameters[0].key} or more"
        for value in values if parameters else ():
            if not parameters[0].allows(value):
                yield f"frontier.methods.{name}: {value!r} is not {parameters[0].bounds}"
    if section["methods"] and len(section["methods"].get(section["reference"], [])) < 2:
        curves = ", ".join(name for name, values in section["methods"].items() if len(values) > 1)
        yield f"frontier.reference: {section['reference']!r} is no curve in frontier.methods; use one of {curves}"
    if len(section["deltas"]) == 1:
        yield "frontier.deltas: a curve needs two values or more; [] leaves BAT out"
    if section["methods"] and section["deltas"] and (names := capped(config)):
        yield f"frontier.deltas: BAT needs linear logits, and those of {names[0]} are capped; [] leaves BAT out"


STUDY = Study(mistakes=mistakes)
