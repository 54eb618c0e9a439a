"""The studies: folders of `workflow/studies`, each with all that one question needs (see docs/architecture.md).

A config lists those that take part (`studies`). What belongs to a config, its sections, is there for every folder, so
that a config may say something of a study that it leaves out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from oversmoothing.fingerprint import stories_of
from oversmoothing.tables import story
from plan.arms import ARMS, Arm

if TYPE_CHECKING:
    from plan.model_types import Model
    from plan.run import Run
    from plan.table import Table
    from plan.texts import Text

FOLDER = Path(__file__).resolve().parent.parent / "studies"
Config = Mapping[str, Any]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where there is one: every plan reads all studies


@dataclass(frozen=True)
class Study:
    """What the plan asks of a study: the `STUDY` of its module ``plan``, functions of a config."""

    mistakes: Callable[[Config], Iterable[str]] = lambda config: ()  # messages, beyond what the schema says
    files: Callable[[Config], Mapping[str, str]] = lambda config: {}  # the user's files, by key
    texts: Callable[[Config], Mapping[str, list[str]]] = lambda config: {}  # globs of the user's texts, by key
    folders: Callable[[Config], Mapping[str, str]] = lambda config: {}  # in the place of models of the hub, by key
    # What it reads of the hub or of such folders, by name: the source (see `assets.by_name`), and the step or None.
    assets: Callable[[Config], Mapping[str, tuple[dict[str, str], int | None]]] = lambda config: {}
    models: Callable[[Config], Mapping[str, "Model"]] = lambda config: {}  # heads, made from those of others, by name
    arms: Sequence[Arm] = ()  # the kinds of these models
    # Texts beside the main one that models read, and models that learn these.
    texts_read: Callable[["Run"], Iterable["Text"]] = lambda run: ()
    tables: Callable[["Run"], Iterable["Table"]] = lambda run: ()  # its tables and figures; steps are in its folder
    # Models whose distributions other studies may measure in the place of the family's: ``facts``, folder of their
    # ``text``, and names of its ``truths``.
    distributions: Callable[[Config], Sequence[Mapping[str, Any]]] = lambda config: ()
    # What it takes to make its models, for `snakemake needs`: of each kind ``what``, ``count`` and ``operations``.
    work: Callable[[Config], Iterable[Mapping[str, Any]]] = lambda config: ()
    # Tables that its claims read, and the thesis's tables that print the same, by number.
    tested: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()  # studies whose rules or code it uses; a config lists them before it
    after: tuple[str, ...] = ()  # studies whose rules it uses where a config lists them; then before it


def there() -> list[str]:
    """Return names of all studies, which are those of the folders with a plan."""
    return sorted(path.parent.name for path in FOLDER.glob("*/plan.py"))


def with_part(config: Config, file: str) -> list[str]:
    """Return names of the studies of a config that have a file of this name, in its order."""
    return [name for name in config["studies"] if (FOLDER / name / file).is_file()]


def code(config: Config, file: str) -> list[str]:
    """Return paths of the files of this name of a config's studies, as `tracking.planned.fingerprints` takes them."""
    return [f"studies/{name}/{file}" for name in with_part(config, file)]


def stories(config: Config) -> list[Path]:
    """Return the stories of the library and of the studies of a config (see `oversmoothing.tables.story`)."""
    return [*stories_of(Path(story.__file__)), *(FOLDER / name / "story.md" for name in with_part(config, "story.md"))]


def sections(file: str) -> dict[str, Any]:
    """Return sections of the config that the studies hold in a file of this name: their defaults or their schemas."""
    merged: dict[str, Any] = {}
    for name in there():
        merge(merged, deepcopy(_read(FOLDER / name / file)))
    return merged


def fill_in(config: dict[str, Any]) -> None:
    """Add what a config does not say of the sections of the studies: their defaults, ``config.yaml``."""
    _lay_under(config, sections("config.yaml"))


def merge(into: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Add a part to a mapping at all depths; lists are joined, so that a study can add keys to a section of others."""
    for key, value in part.items():
        if isinstance(value, Mapping) and key in into:
            merge(into[key], value)
        else:
            into[key] = [*into[key], *value] if isinstance(value, list) and key in into else value


def mistakes(config: Config) -> Iterator[str]:
    """Yield messages of the studies of a config about it, and about those that they need."""
    for i, name in enumerate(config["studies"]):
        for needed in needs(name):
            if needed not in config["studies"][:i]:
                yield f"studies: {name} needs {needed}; list {needed} before it, or leave {name} out"
        for used in after(name):
            if used in config["studies"][i:]:
                yield f"studies: {name} uses {used}; list {used} before it"
    for study in _planned(config).values():
        yield from study.mistakes(config)


def joined(config: Config, part: str) -> dict[str, Any]:
    """Return what the studies of a config add by one part of their `Study`, such as ``models``, by key."""
    return {key: value for study in _planned(config).values() for key, value in getattr(study, part)(config).items()}


def models(config: Config) -> dict[str, "Model"]:
    """Return the models that the studies of a config add to `plan.models.by_name`, by name."""
    return joined(config, "models")


def arms(config: Config) -> list[Arm]:
    """Return all arms: those of the family, of truncated heads and of the studies of a config."""
    return [*ARMS, *(arm for study in _planned(config).values() for arm in study.arms)]


def distributions(config: Config) -> list[Mapping[str, Any]]:
    """Return the models of the studies of a config whose distributions others may measure."""
    return [of for study in _planned(config).values() for of in study.distributions(config)]


def texts_read(run: "Run") -> list["Text"]:
    """Return the texts of the studies of a config that models read."""
    return [text for study in _planned(run.config).values() for text in study.texts_read(run)]


def tables(run: "Run") -> list["Table"]:
    """Return the tables and figures of the studies of a config, with the steps' paths as `code` has them."""
    return [
        replace(table, step=f"studies/{name}/{table.step}")
        for name, study in _planned(run.config).items()
        for table in study.tables(run)
    ]


def work(config: Config) -> list[Mapping[str, Any]]:
    """Return what it takes to make the models that the studies of a config add."""
    return [part for study in _planned(config).values() for part in study.work(config)]


def tested(config: Config) -> dict[str, tuple[str, ...]]:
    """Return the tables that the claims of the studies of a config read, with the thesis's that print the same."""
    return {name: printed for study in _planned(config).values() for name, printed in study.tested.items()}


def needs(name: str) -> tuple[str, ...]:
    """Return names of the studies that a study needs."""
    return _study(name).needs


def after(name: str) -> tuple[str, ...]:
    """Return names of the studies that a study uses where a config lists them."""
    return _study(name).after


def _planned(config: Config) -> dict[str, Study]:
    return {name: _study(name) for name in with_part(config, "plan.py")}


def _study(name: str) -> Study:
    return import_module(f"studies.{name}.plan").STUDY


def _lay_under(config: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for key, value in defaults.items():
        if isinstance(value, Mapping) and isinstance(config.get(key), dict):
            _lay_under(config[key], value)
        else:
            config.setdefault(key, value)


@cache
def _read(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(encoding="utf-8"), LOADER) if path.is_file() else {}
