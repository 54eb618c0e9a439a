"""Write the documents: pages from their sources and the kept tables, and into three of them what code declares.

`make docs` renders each file below `docs/source` to the same place below `docs`, and `docs/source/README.md` to
`README.md`, with the quantities of `pages/NAME.py`. A page is Markdown, or Typst, which `make article` prints as a PDF,
with figures that `pages/article_figures.py` draws from kept tables.
In PARTS it replaces what stands between two comments; the rest is written by hand.
"""

import ast
import functools
import importlib
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import yaml

from oversmoothing import argmaxability, bat, forced
from oversmoothing.tables.quantities import environment
from oversmoothing.tables.record import documentation
from pages import kept
from pages.kept import ROOT
from plan import studies
from schemas.config import read_schema

METHODS = (FunctionType, property, functools.cached_property)
PACKAGES: tuple[ModuleType, ...] = (bat, forced, argmaxability)  # which others may import
SOURCES = ROOT / "docs/source"
BEGIN, END = "<!-- {}: written by `make docs` -->", "<!-- end of {} -->"
SUBJECTS = {  # headings of config/README.md, in order, and the sections of each; those of studies are the last
    "What is made, and where": ("results", "wanted", "studies", "checkpoints", "assets", "device"),
    "The text": ("corpus", "tokens", "windows"),
    "The models": ("family", "truths", "seeds", "model", "training", "learning_rates", "svd_ranks", "svd_of"),
    "How they are measured": ("inference", "decodings", "samples", "metrics", "statistics"),
}
OF_STUDIES = "Settings of studies"
RENDERED = "Written by `make docs` from docs/source/{}: edit that, not this."
FRONT_MATTER = "---\n"  # at the beginning of a page, where nothing may stand before it


def main() -> None:
    """Write the files."""
    for path in PARTS:
        path.write_text(updated(path), encoding="utf-8")
    for path in pages():
        path.write_text(rendered(path), encoding="utf-8")
    importlib.import_module("pages.article_figures").main()  # it takes seconds to load


def pages() -> list[Path]:
    """Return the pages that have a source."""
    return [
        ROOT / source.name if source.stem == "README" else ROOT / "docs" / source.relative_to(SOURCES)
        for suffix in ("md", "typ")
        for source in sorted(SOURCES.rglob(f"*.{suffix}"))
    ]


def rendered(page: Path) -> str:
    """Return a page, made from its source and its quantities, and say so in its first line, or in its last."""
    readme = page.parent == ROOT
    source = page.name if readme else page.relative_to(ROOT / "docs").as_posix()
    text = environment(SOURCES).get_template(source).render(quantities(page))
    words = RENDERED.format(source)
    comment = f"// {words}" if page.suffix == ".typ" else f"<!-- {words} -->"
    if readme or text.startswith(FRONT_MATTER):
        return f"{text.rstrip()} {comment}\n" if readme else f"{text.rstrip()}\n\n{comment}\n"
    return f"{comment}\n\n{text}"


def quantities(page: Path) -> dict[str, Any]:
    """Return what a page's source may name: what its module declares, and what all pages share."""
    own = importlib.import_module(f"pages.{page.stem.lower()}")
    return {name: thing for of in (kept, own) for name, thing in vars(of).items() if not name.startswith("_")}


def updated(path: Path) -> str:
    """Return a document with the part between the two comments replaced."""
    name, part = PARTS[path]
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN.format(name))
    _, end, after = rest.partition(END.format(name))
    return f"{before}{begin}\n\n{part()}\n\n{end}{after}"


def keys() -> str:
    """Return one section per top-level key of the config, by subject, with a table of the keys below it."""
    schema = read_schema()
    default = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    studies.fill_in(default)
    sections = schema["properties"]
    # The keys of a truth's own `model` and `training` are described once, under these sections.
    shared = {id(part) for name in ("model", "training") for part in sections[name]["properties"].values()}
    of_studies = tuple(name for name in sections if not any(name in own for own in SUBJECTS.values()))
    by_subject = SUBJECTS | ({OF_STUDIES: of_studies} if of_studies else {})
    parts = [
        "\n".join(
            f"- {subject}: {', '.join(f'[`{name}`](#{name})' for name in names)}"
            for subject, names in by_subject.items()
        )
    ]
    heading = {names[0]: subject for subject, names in by_subject.items()}
    for name in (name for names in by_subject.values() for name in names):
        section = sections[name]
        values = _values(section, schema["$defs"])
        parts += [f"### {heading[name]}"] if name in heading else []
        parts.append(f"#### `{name}`\n\n{section['description']}" + (f" Value: {values}." if values else ""))
        if isinstance(default[name], str):
            parts[-1] += f" Default: `{default[name]}`."
        if rows := list(_rows(section, "", default[name], schema["$defs"], shared if name == "truths" else set())):
            parts.append("| key | value | default | meaning |\n|:---|:---|:---|:---|\n" + "\n".join(rows))
    return "\n\n".join(parts)


def surface() -> dict[str, Any]:
    """Return the objects that others may import, by names such as ``bat.reject_set``."""
    return {f"{_short(package)}.{name}": getattr(package, name) for package in PACKAGES for name in package.__all__}


def reference() -> str:
    """Return a chapter per package: of each public name its signature and docstring, and what a class computes."""
    parts = []
    for package in PACKAGES:
        parts.append(f"## {_short(package)}\n\n{inspect.cleandoc(package.__doc__ or '').splitlines()[0]}")
        for name in package.__all__:
            thing = getattr(package, name)
            source = inspect.getsource(thing)
            (node,) = ast.parse(source).body
            assert isinstance(node, ast.FunctionDef | ast.ClassDef)
            head = "\n".join(source.splitlines()[: node.body[0].end_lineno])
            parts.append(f"### `{_short(package)}.{name}`\n\n```py\n{head}\n```")
            own = vars(thing).items() if inspect.isclass(thing) else ()
            computed = {key: str(part.__doc__) for key, part in own if key[0] != "_" and isinstance(part, METHODS)}
            if computed:
                parts.append("\n".join(f"- `{key}`: {text.splitlines()[0]}" for key, text in computed.items()))
            parts.append(f"[Source](../{Path(inspect.getfile(thing)).relative_to(ROOT).as_posix()})")
    return "\n\n".join(parts)


def _short(package: ModuleType) -> str:
    return package.__name__.rpartition(".")[2]


def _rows(section: Mapping[str, Any], key: str, default: Any, defs: Mapping[str, Any], skip: set[int]) -> Iterator[str]:
    """Yield rows of the keys below a section, depth first."""
    for name, part in _properties(section):
        if id(part) in skip:
            continue
        own = default.get(name) if isinstance(default, Mapping) else None
        where = f"{key}.{name}".lstrip(".")
        known = isinstance(default, Mapping) and name in default and not _nested(own)
        shown = f"`{_flow(own)}`" if known else ""
        if "description" in part:
            yield f"| `{where}` | {_values(part, defs)} | {shown} | {part['description']} |"
        yield from _rows(part, where, own, defs, skip)


def _properties(section: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield keys directly below a section, or below each of the forms that it may have."""
    own = section.get("items", section)
    for option in (own, *own.get("anyOf", [])):
        yield from option.get("properties", {}).items()


def _values(part: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """Return the allowed values of a key, in words."""
    if "$ref" in part:
        part = defs[part["$ref"].rpartition("/")[2]]
    if "enum" in part:
        return ", ".join(f"`{_flow(value)}`" for value in part["enum"])
    if "const" in part:
        return f"`{_flow(part['const'])}`"
    if "anyOf" in part:
        return ", ".join(dict.fromkeys(_values(option, defs) or "a mapping" for option in part["anyOf"]))
    kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
    words = [_word(kind, part, defs) for kind in kinds]
    return " or ".join(word or "a mapping" for word in words) if any(words) else ""


def _word(kind: str, part: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    if kind == "object":
        return ""
    if kind == "array":
        inner = _values(part["items"], defs)
        return f"a list of {inner}" if inner else "a list of mappings"
    if kind in ("integer", "number"):
        low = f"above {part['exclusiveMinimum']}" if "exclusiveMinimum" in part else ""
        low = f"at least {part['minimum']}" if "minimum" in part else low
        high = f"below {part['exclusiveMaximum']}" if "exclusiveMaximum" in part else ""
        high = f"at most {part['maximum']}" if "maximum" in part else high
        return " ".join([{"integer": "integer"}.get(kind, "number"), ", ".join(filter(None, (low, high)))]).strip()
    return {"string": "text", "boolean": "`true`, `false`", "null": "`null`"}[kind]


def _nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(item, Mapping) for item in value))


def _flow(value: Any) -> str:
    if isinstance(value, str):
        return value if value.strip() else f'"{value!r}"'.replace("'", "")
    return yaml.safe_dump(value, default_flow_style=True, width=1000).splitlines()[0]


PARTS = {
    ROOT / "config/README.md": ("keys", keys),
    ROOT / "docs/results.md": ("columns", documentation),
    ROOT / "docs/api.md": ("surface", reference),
}

if __name__ == "__main__":
    main()
