"""Write the documents: pages from their sources and the kept tables, and into three of them what code declares.

`make docs` renders each file below `docs/source` to the same place below `docs`, and `docs/source/README.md` to
`README.md`, with the quantities of `pages/NAME.py`. A page is Markdown, or Typst, which `make article` prints as a PDF,
with figures that `pages/article_figures.py` draws from kept tables.
In PARTS it replaces what stands between two comments; the rest is written by hand.
"""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from oversmoothing.commands.one_head.size import SHIPPED
from oversmoothing.tables.quantities import environment
from oversmoothing.tables.record import documentation, read_record
from plan import studies
from schemas.config import read_schema
from schemas.surface import ROOT, described

SOURCES = ROOT / "docs/source"
VOCABULARIES = ROOT / "resources/studies/vocabularies_smollm2/tables/vocabularies.csv"
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
    if (needs := needed_ranks()) is not None:
        SHIPPED.write_text(needs, encoding="utf-8")
    if pages():
        importlib.import_module("pages.article_figures").main()  # it takes seconds to load


def needed_ranks() -> str | None:
    """Return the table that `oversmoothing size` reads, of truths of all steps and of SmolLM2; None if none is kept."""
    if not VOCABULARIES.is_file():
        return None
    table = read_record(VOCABULARIES)
    nats = table.measure.str.extract(r"^needed_([\d.]+)$", expand=False)
    ends = zip(table.value, table.low, table.high, strict=True)
    told = table.note.fillna(pd.Series([f"{value:.0f} [{low:.0f}, {high:.0f}]" for value, low, high in ends]))
    truth = table.truth.map(
        {"truth": "a model trained on it", "smollm2": "SmolLM2 (with heads in the span of its own)"}
    )
    needed = table[["vocabulary"]].assign(truth=truth, nats=nats, rank=told)[nats.notna() & truth.notna()]
    return str(needed.to_csv(index=False, lineterminator="\n"))


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
    modules = [importlib.import_module(f"pages.{name}") for name in ("kept", page.stem.lower())]
    return {name: thing for of in modules for name, thing in vars(of).items() if not name.startswith("_")}


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
    ROOT / "docs/api.md": ("surface", described),
}

if __name__ == "__main__":
    main()
