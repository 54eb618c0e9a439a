"""The decoding methods, each declared once, in a module of `oversmoothing.scores.decodings` that bears its name.

The plan, the schema, the config's checks, sampling, scoring and the command line find them here. Jobs import only the
methods that they use, by name, and their rules list these in `params.by_name` (see `files`): a new method, or an
edit of one that is not used, redoes nothing.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from oversmoothing.jobs import UserError, import_by_name

FOLDER = Path(__file__).parent.parent / "decodings"


@dataclass(frozen=True)
class Parameter:
    """A numeric parameter of a decoding method."""

    key: str  # in the config
    default: float  # on the command line
    low: float = 0.0
    high: float = math.inf
    above: bool = False  # whether `low` is excluded
    whole: bool = False  # whether it must be a whole number

    def allows(self, value: Any) -> bool:
        """Return whether a value is a number of the right kind within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return False
        return (value > self.low if self.above else value >= self.low) and value <= self.high and value < math.inf

    @property
    def bounds(self) -> str:
        """The allowed values, in words."""
        kind = "a whole number" if self.whole else "a number"
        if math.isinf(self.high):
            return f"{kind} above {self.low:g}" if self.above else f"{kind} from {self.low:g} on"
        return f"{kind} in {'(' if self.above else '['}{self.low:g}, {self.high:g}]"


@dataclass(frozen=True)
class Method:
    """A decoding method: from distributions (n, v) and the values of its parameters to distributions.

    One without a function needs the model, in the module of that name in `oversmoothing.samples`; it has no scores.
    """

    function: Callable[..., Any] | None
    parameters: tuple[Parameter, ...] = ()


def names() -> list[str]:
    """Return the names of the decoding methods, in alphabetical order; none of them is imported."""
    return sorted(module.name.replace("_", "-") for module in iter_modules([str(FOLDER)]))


@cache
def methods() -> dict[str, Method]:
    """Return all decoding methods by name, for the plan and the command line; a job imports only those it uses."""
    return {name: import_module(_module("scores.decodings", name)).METHOD for name in names()}


def maps() -> list[str]:
    """Return the names of the methods that map distributions to distributions and can therefore be scored."""
    return [name for name, method in methods().items() if method.function]


def method(name: str) -> Method:
    """Return a decoding method by its name, one of `names`."""
    imported: Method = import_by_name(_module("scores.decodings", name)).METHOD
    return imported


def sampling_module(name: str) -> Any:
    """Return the module of a method that needs the model."""
    return import_by_name(_module("samples", name))


def files(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the files of the decodings in a config's list, for `params.by_name` of the rules that use them."""
    used = {entry["name"] for entry in entries}
    modules = {_module("scores.decodings", name) for name in used}
    modules |= {_module("samples", name) for name in used if methods()[name].function is None}
    return [f"{module.replace('.', '/')}.py" for module in sorted(modules)]


def parameters(entry: Mapping[str, Any]) -> list[Any]:
    """Return the parameters of an entry of the config's lists, such as ``{name: top-p, p: 0.9}``, in declared order.

    A `UserError` is raised if the name or a key is unknown, a key is missing, or a value is out of bounds.
    """
    name = entry.get("name")
    if not isinstance(name, str) or name not in names():
        raise UserError(f"decoding: unknown name {name!r}; use one of {', '.join(names())}")
    wanted = method(name).parameters
    if set(entry) != {"name", *(parameter.key for parameter in wanted)}:
        have = ", ".join(sorted(set(entry) - {"name"})) or "none"
        raise UserError(f"decoding {name}: takes {', '.join(p.key for p in wanted) or 'no setting'}, not {have}")
    for parameter in wanted:
        if not parameter.allows(entry[parameter.key]):
            raise UserError(f"decoding {name}: {parameter.key} = {entry[parameter.key]!r} is not {parameter.bounds}")
    return [entry[parameter.key] for parameter in wanted]


def _module(package: str, name: str) -> str:
    return f"oversmoothing.{package}.{name.replace('-', '_')}"
