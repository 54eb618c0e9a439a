"""The decoding methods, each declared once.

The plan, the schema, the config's checks, sampling, scoring and the command line read this module. To add a decoding
method, add an entry to `DECODERS` and a function of the same name to `oversmoothing.decoding`. It is apart from
`catalogue.metrics`, which sampling does not import, so that a new metric samples nothing anew.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oversmoothing.jobs import UserError

DELTA = math.log(1 / 0.8)  # of BAT, thesis 4.1.6
LARGEST_DELTA = 20


@dataclass(frozen=True)
class Parameter:
    """A numeric parameter of a decoding method.

    Attributes
    ----------
    key : str
        Its key in the config.
    default : float
        Default on the command line.
    low, high : float
        Bounds, both inclusive unless `above`.
    above : bool
        Whether `low` is excluded.
    whole : bool
        Whether it must be a whole number.
    """

    key: str
    default: float
    low: float = 0.0
    high: float = math.inf
    above: bool = False
    whole: bool = False

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
class Decoder:
    """A decoding method.

    Attributes
    ----------
    parameters : tuple of Parameter
    maps : bool
        Whether it maps distributions to distributions and can therefore be scored; the others only draw samples.
    """

    parameters: tuple[Parameter, ...] = ()
    maps: bool = True


DECODERS: dict[str, Decoder] = {
    "pure": Decoder(),
    "greedy": Decoder(),
    "top-k": Decoder((Parameter("k", 5, low=1, high=256, whole=True),)),
    "top-p": Decoder((Parameter("p", 0.9, high=1, above=True),)),
    # Beyond these bounds float32 loses precision.
    "temperature": Decoder((Parameter("temperature", 0.8, low=0.01, high=100),)),
    "min-p": Decoder((Parameter("min_p", 0.05, high=1, above=True),)),
    "typical": Decoder((Parameter("mass", 0.95, high=1, above=True),)),
    "eta": Decoder((Parameter("epsilon", 0.0009, high=1, above=True),)),
    "bat": Decoder((Parameter("delta", DELTA, high=LARGEST_DELTA),), maps=False),
    "mirostat": Decoder((Parameter("tau", 3.0, above=True), Parameter("rate", 0.1, above=True)), maps=False),
    "beam": Decoder((Parameter("width", 5, low=1, whole=True),), maps=False),
}

MAPS = tuple(name for name, decoder in DECODERS.items() if decoder.maps)


def parameters(entry: Mapping[str, Any]) -> list[Any]:
    """Return the parameters of an entry of the config's lists, such as ``{name: top-p, p: 0.9}``, in declared order.

    A `UserError` is raised if the name or a key is unknown, a key is missing, or a value is out of bounds.
    """
    name = entry.get("name")
    if not isinstance(name, str) or name not in DECODERS:
        raise UserError(f"decoding: unknown name {name!r}; use one of {', '.join(DECODERS)}")
    wanted = DECODERS[name].parameters
    if set(entry) != {"name", *(parameter.key for parameter in wanted)}:
        have = ", ".join(sorted(set(entry) - {"name"})) or "none"
        raise UserError(f"decoding {name}: takes {', '.join(p.key for p in wanted) or 'no setting'}, not {have}")
    for parameter in wanted:
        if not parameter.allows(entry[parameter.key]):
            raise UserError(f"decoding {name}: {parameter.key} = {entry[parameter.key]!r} is not {parameter.bounds}")
    return [entry[parameter.key] for parameter in wanted]
