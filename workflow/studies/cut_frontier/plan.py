"""The models whose frontiers are compared, and the mistakes of a config."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oversmoothing.scores.catalogue.decoders import maps, method
from plan.models import capped
from plan.run import Run
from plan.settings import settings
from plan.studies import Study, distributions
from plan.table import Shown, Table

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


def cut(run: Run) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what is measured, by the folder of its text and its model: its ``facts``, and files of its ``truths``."""
    if not run.config["frontier"]["methods"]:
        return {}
    family = [{"text": "", "facts": facts, "truths": run.truths} for facts in run.compared_inside("family")]
    measured: Sequence[Mapping[str, Any]] = distributions(run.config) or family
    return {
        (of["text"], of["facts"]["model"]): {
            "facts": of["facts"],
            "truths": {truth: run.texts[of["text"]].truths[truth] for truth in of["truths"]},
        }
        for of in measured
    }


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and, of each law and temperature, a figure."""
    measured, section = cut(run), run.config["frontier"]
    drawn = [
        {"law": law, "temperature": temperature}
        for law in dict.fromkeys(of["facts"].get("law") for of in measured.values())
        for temperature in section["temperatures"]
    ]
    if measured:
        yield Table(
            "frontier_table",
            "show.py",
            {"sums": [path for text, model in measured for path in run.scores(["frontier"], [model], text)]},
            settings(
                **run.config["statistics"],
                reference=section["reference"],
                figures=drawn,
                models=[of["facts"] for of in measured.values()],
            ),
            Shown("frontier", "6 Decoding", "What methods keep and leak"),
            latex=False,
            figures={"figures": [_figure(**of) for of in drawn]},
        )


def _figure(law: str | None, temperature: float) -> Shown:
    of_law = [law] if law else []
    name = "_".join(["frontier", *of_law, f"{temperature:g}"])
    return Shown(name, "6 Decoding", " ".join(["Frontiers", *of_law, f"at temperature {temperature:g}"]))


STUDY = Study(mistakes=mistakes, tables=tables)
