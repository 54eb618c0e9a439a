"""The public surface: what others may use and version 1.0 promises, each read from where it is declared.

`make docs` writes it into docs/api.md. `tests/promised.txt` lists what has been promised, a line for each part;
`python -m schemas.surface` prints the lines that hold now.
"""

import argparse
import ast
import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import oversmoothing
from oversmoothing import argmaxability, bat, forced
from oversmoothing.commands import CHECKED, COMMANDS
from oversmoothing.commands.arguments.parser import schema_of
from oversmoothing.tables.record import SCHEMA
from schemas.config import read_core

ROOT = Path(__file__).resolve().parents[2]
PACKAGES: tuple[ModuleType, ...] = (bat, forced, argmaxability)  # which others may import, of arrays alone
METHODS = (FunctionType, property, functools.cached_property)
Parts = Mapping[str, list[str]]


def promised() -> dict[str, Parts]:
    """Return the parts of each thing that is promised, by its kind and name; in brackets those that may be missing."""
    of_commands = {name: parser_of(name) for name in COMMANDS}
    with_json = [name for name, parser in of_commands.items() if "--schema" in parser.format_usage()]
    public = {"oversmoothing.compare": oversmoothing.compare, **surface()}
    return {
        "Arguments of commands": {name: arguments(parser) for name, parser in of_commands.items()},
        "Keys of what `--json` writes": {name: list(keys(schema_of(name))) for name in with_json},
        "Parameters of functions": {name: parameters(it) for name, it in public.items() if inspect.isfunction(it)},
        "Fields of results": {name: public_fields(it) for name, it in public.items() if inspect.isclass(it)},
        "Sections of a config": {"config": list(read_core()["properties"])},
        "Columns of tables": {
            "tables": [name if column.always else f"[{name}]" for name, column in SCHEMA.items()],
        },
        "Columns of Parquet files": {
            name: [f"{column} {kind}" for column, kind in columns.items()]
            for name, columns in parquet_columns((ROOT / "docs/results.md").read_text(encoding="utf-8")).items()
        },
    }


def lines() -> list[str]:
    """Return a line for each part that is promised."""
    return [
        f"{kind}: {name}: {part}"
        for kind, things in promised().items()
        for name, parts in things.items()
        for part in parts
    ]


def described() -> str:
    """Return the part of docs/api.md that code declares: what is promised, and the reference of functions."""
    chapters = ["## What version 1.0 promises"]
    for kind, things in promised().items():
        rows = [f"| `{name}` | {', '.join(f'`{part}`' for part in parts)} |" for name, parts in things.items()]
        chapters.append("\n".join([f"### {kind}\n", "| of | are |", "|:---|:---|", *rows]))
    return "\n\n".join([*chapters, reference()])


def parser_of(command: str) -> argparse.ArgumentParser:
    """Return the parser of a command's arguments."""
    room = "oversmoothing.commands" + ".arguments" * (command in CHECKED)
    made: argparse.ArgumentParser = import_module(f"{room}.{command.replace('-', '_')}").parser()
    return made


def arguments(parser: argparse.ArgumentParser) -> list[str]:
    """Return what a command takes, as its usage has it, but for ``--help``."""
    return [_argument(action) for action in parser._actions if action.dest != "help"]


def _argument(action: argparse.Action) -> str:
    value = str(action.metavar or action.dest.upper())
    if action.choices is not None:
        value = "{" + ",".join(action.choices) + "}"
    value += " ..." * (action.nargs == "+")
    words = ", ".join(action.option_strings) + f" {value}" * (action.nargs != 0) if action.option_strings else value
    return words if action.required else f"[{words}]"


def keys(schema: Mapping[str, Any], above: str = "", optional: bool = False) -> Iterator[str]:
    """Yield the keys of a JSON Schema with their types, depth first, those of a list's items below the list."""
    for name, part in schema.get("properties", {}).items():
        missing = optional or name not in schema["required"]
        types = part["type"] if isinstance(part["type"], list) else [part["type"]]
        words = f"{above}{name} {' or '.join(types)}"
        yield f"[{words}]" if missing else words
        yield from keys(part.get("items", part) if "array" in types else part, f"{above}{name}.", missing)


def parameters(function: Any) -> list[str]:
    """Return the parameters of a function in order; ``*`` stands before those that need their names."""
    found: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in found:
            found.append("*")
        found.append(name if parameter.default is parameter.empty else f"[{name}]")
    return found


def public_fields(thing: type) -> list[str]:
    """Return the fields of a class, those of its bases first, and what it computes."""
    fields = [name for base in reversed(thing.__mro__) for name in getattr(base, "__annotations__", {})]
    return [*fields, *_computed(thing)]


def parquet_columns(page: str) -> dict[str, dict[str, str]]:
    """Return the columns of each Parquet file that a page lists, with their types.

    A row that begins with "the same" adds to the row before. The type of a column is the next that follows its name.
    Names without a type, and what stands in brackets, are no columns.
    """
    rows = re.findall(r"^\| `([\w/{}.]+\.parquet)`[^|]*\| (.*) \|$", page, flags=re.MULTILINE)
    listed: dict[str, dict[str, str]] = {}
    before: dict[str, str] = {}
    for pattern, text in rows:
        words = re.findall(r"`(\w+)`|\b(bool|binary|text|int\d+|float\d+)\b", re.sub(r"\([^()]*\)", "", text))
        own: dict[str, str] = {}
        for k, (name, _) in enumerate(words):
            kind = next((kind for _, kind in words[k:] if kind), None)
            if name and kind:
                own.setdefault(name, kind)
        before = listed[pattern] = (before if text.startswith("the same") else {}) | own
    return listed


def surface() -> dict[str, Any]:
    """Return the objects of the three libraries, by names such as ``bat.reject_set``."""
    return {f"{_short(package)}.{name}": getattr(package, name) for package in PACKAGES for name in package.__all__}


def reference() -> str:
    """Return a chapter per package: of each public name its signature and docstring, and what a class computes."""
    parts = []
    for package in (oversmoothing, *PACKAGES):
        parts.append(f"## {_short(package)}\n\n{inspect.cleandoc(package.__doc__ or '').splitlines()[0]}")
        for name in package.__all__:
            thing = getattr(package, name)
            source = inspect.getsource(thing)
            (node,) = ast.parse(source).body
            assert isinstance(node, ast.FunctionDef | ast.ClassDef)
            head = "\n".join(source.splitlines()[: node.body[0].end_lineno])
            parts.append(f"### `{_short(package)}.{name}`\n\n```py\n{head}\n```")
            if inspect.isclass(thing) and (computed := _computed(thing)):
                parts.append("\n".join(f"- `{key}`: {text.splitlines()[0]}" for key, text in computed.items()))
            parts.append(f"[Source](../{Path(inspect.getfile(thing)).relative_to(ROOT).as_posix()})")
    return "\n\n".join(parts)


def _computed(thing: type) -> dict[str, str]:
    """Return what a class computes, its public properties and methods, with their docstrings."""
    own = vars(thing).items()
    return {key: str(part.__doc__) for key, part in own if key[0] != "_" and isinstance(part, METHODS)}


def _short(package: ModuleType) -> str:
    return package.__name__.rpartition(".")[2]


if __name__ == "__main__":
    print("\n".join(lines()))
