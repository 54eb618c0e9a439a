"""Arguments of the commands that run models: numbers have bounds, and each mistake is one line."""

import argparse
import json
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from oversmoothing.jobs import UserError, import_by_name


class Parser(argparse.ArgumentParser):
    """A parser that checks the bounds of its numbers, and names a mistake in one line."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._bounded: list[tuple[argparse.Action, float, float, bool]] = []

    def number(
        self,
        *names: str,
        type: Callable[[str], Any] = int,
        low: float = -math.inf,
        high: float = math.inf,
        above: bool = False,
        **options: Any,
    ) -> None:
        """Add an option of a number, or of several, from `low` to `high`; `above` excludes `low`."""
        action = self.add_argument(*names, type=type, **{"metavar": "N"} | options)
        self._bounded.append((action, low, high, above))

    def json(self, what: str) -> None:
        """Add ``--json FILE``, and ``--schema``, which prints the JSON Schema of that file."""
        self.add_argument("--json", metavar="FILE", help=what)
        self.add_argument("--schema", action=Schema, nargs=0, help="print the JSON Schema of that file and exit")

    def parse_args(self, args: Any = None, namespace: Any = None) -> argparse.Namespace:  # type: ignore[override]
        """Parse arguments; a `UserError` names the first number that is out of bounds."""
        asked = super().parse_args(args, namespace)
        for action, low, high, above in self._bounded:
            given = getattr(asked, action.dest)
            for value in given if isinstance(given, Sequence) else [given]:
                if value is None or (math.isfinite(value) and low <= value <= high and not (above and value == low)):
                    continue
                raise UserError(f"{action.option_strings[0]} {value:g} {_bounds(low, high, above)}")
        return asked

    def error(self, message: str) -> NoReturn:
        """Exit with one line, and the way to the description of all arguments."""
        self.exit(2, f"Error: {message.removeprefix('argument ')}; see `{self.prog} --help`\n")


class Schema(argparse.Action):
    """Print the JSON Schema of the command, whatever else is given, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(json.dumps(schema_of(parser.prog.rpartition(" ")[2]), indent=2))
        parser.exit()


def schema_of(command: str) -> dict[str, Any]:
    """Return the JSON Schema of what a command writes with `--json`."""
    found: dict[str, Any] = import_by_name(f"oversmoothing.commands.schemas.{command.replace('-', '_')}").SCHEMA
    return found


def _bounds(low: float, high: float, above: bool) -> str:
    """Return what a number must be, in words."""
    if math.isinf(high):
        return f"must be {'more than' if above else 'at least'} {low:g}"
    return f"must be {f'more than {low:g} and' if above else f'at least {low:g} and'} at most {high:g}"
