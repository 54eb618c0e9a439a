"""The reference of what others may import from the library, in Markdown, made from docstrings (NumPy's layout)."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from oversmoothing import argmaxability, bat, forced

PACKAGES: tuple[ModuleType, ...] = (bat, forced, argmaxability)
LIBRARY = Path(bat.__file__).parents[2]
ENTRIES = ("Parameters", "Attributes", "Returns", "Raises")  # sections that list names or types
SECTION = re.compile(r"^(\w+)\n-+$", re.MULTILINE)
ENTRY = re.compile(r"^(\S.*)\n?((?:[ \t].*\n?|\n)*)", re.MULTILINE)
CODE = re.compile(r"(`[^`]*`)")
METHODS = (FunctionType, property, cached_property)
WIDTH = 100  # of a signature on one line


def reference() -> str:
    """Return a chapter per package: its functions, then the classes of what they return."""
    return "\n\n".join(part for package in PACKAGES for part in _chapter(package))


def surface() -> dict[str, Any]:
    """Return the objects that others may import, by names such as ``bat.reject_set``."""
    return {f"{_short(package)}.{name}": getattr(package, name) for package in PACKAGES for name in package.__all__}


def sections(text: str) -> dict[str, str]:
    """Return the parts of a docstring by their headings, and what stands above them as ``""``."""
    parts = SECTION.split(inspect.cleandoc(text))
    headed = zip(parts[1::2], parts[2::2], strict=True)
    return {"": parts[0].strip(), **{name: body.strip("\n") for name, body in headed}}


def entries(body: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and description of each entry of a section; the type is "" where a docstring gives none."""
    for head, text in ENTRY.findall(body):
        name, _, kind = head.partition(" : ")
        yield name, kind, " ".join(text.split())


def _chapter(package: ModuleType) -> Iterator[str]:
    name = _short(package)
    yield f"## {name}\n\n{_first(package)}"
    for public in package.__all__:
        thing = getattr(package, public)
        yield f"### `{name}.{public}`"
        if inspect.isfunction(thing):
            yield f"```py\n{_signature(thing)}\n```"
        yield from _docstring(thing)
        if inspect.isclass(thing):
            yield from _computed(thing)
        yield f"[Source](../{Path(inspect.getfile(thing)).relative_to(LIBRARY.parent).as_posix()})"


def _docstring(thing: Any) -> Iterator[str]:
    for name, body in sections(thing.__doc__).items():
        if name:
            yield f"**{name}**"
        if name in ENTRIES:
            yield "\n".join(_entry(*entry) for entry in entries(body))
        else:
            yield from (_paragraph(paragraph) for paragraph in re.split(r"\n{2,}", body))


def _entry(name: str, kind: str, text: str) -> str:
    return f"- `{name}`" + (f" ({_prose(kind)})" if kind else "") + (f": {_prose(text)}" if text else "")


def _paragraph(text: str) -> str:
    """Return a paragraph, or an example as code; of an example's prose and code each is a paragraph of its own."""
    prose, code, session = text.partition(">>> ")
    parts = [_prose(prose.rstrip()), f"```pycon\n{code}{session}\n```" if code else ""]
    return "\n\n".join(filter(None, parts))


def _computed(kind: type) -> Iterator[str]:
    """Yield a list of a class's public methods and properties, if it has any."""
    known = {name: value for name, value in vars(kind).items() if not name.startswith("_")}
    computed = {name: value for name, value in known.items() if isinstance(value, METHODS)}
    if computed:
        yield "**Computed**"
        yield "\n".join(f"- `{_call(name, value)}`: {_first(value)}" for name, value in computed.items())


def _call(name: str, member: Any) -> str:
    if not inspect.isfunction(member):
        return name
    return f"{name}({', '.join([*inspect.signature(member).parameters][1:])})"


def _signature(function: Any) -> str:
    """Return a function's signature as its source has it, a line for each parameter where one line is too long."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    node.body = [ast.Pass()]
    line = ast.unparse(node).removesuffix(":\n    pass").removeprefix("def ").replace("=", " = ")
    if len(line) <= WIDTH:
        return line
    parameters, _, returned = line.partition("(")[2].rpartition(") -> ")
    split = re.sub(r", (?=\w+:)", ",\n    ", parameters)
    return f"{node.name}(\n    {split},\n) -> {returned}"


def _first(thing: Any) -> str:
    """Return the first paragraph of a docstring."""
    return _prose(inspect.cleandoc(thing.__doc__).split("\n\n")[0])


def _short(package: ModuleType) -> str:
    return package.__name__.rpartition(".")[2]


def _prose(text: str) -> str:
    """Return text in which Markdown takes no asterisk for markup, but for those between backticks."""
    return "".join(part if part.startswith("`") else part.replace("*", r"\*") for part in CODE.split(text))
