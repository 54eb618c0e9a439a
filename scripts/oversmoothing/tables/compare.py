"""Comparison of two results folders: their tables row by row, and the settings in which they differ."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.data.reader import read_manifest
from oversmoothing.jobs import UserError
from oversmoothing.store.layout import number
from oversmoothing.store.parquet import open_reader
from oversmoothing.tables.formats import markdown_table
from oversmoothing.tables.page import Cell, Section, Value, literal
from oversmoothing.tables.record import FACTS, KEYS, is_record, read_record

IDENTITY = ["model", *FACTS, *KEYS]  # columns that identify a row
COLUMNS = ("a", "b", "difference", "low_a", "high_a", "low_b", "high_b", "overlap", "only_in")


def compare(a: str | Path, b: str | Path, names: Sequence[str] = ()) -> dict[str, pd.DataFrame]:
    """Compare the tables of these names, or else all records, that two results folders have in common, by name."""
    paths = {folder: _tables(folder) for folder in (a, b)}
    for name in names:
        for folder, tables in paths.items():
            if name not in tables:
                raise UserError(f"{folder}/tables: no {name}.csv (it has: {', '.join(sorted(tables))})")
    both = [name for name in paths[a] if name in paths[b]]
    names = names or [name for name in both if any(is_record(tables[name]) for tables in paths.values())]
    pairs = {name: [read_record(paths[folder][name]) for folder in (a, b)] for name in names}
    compared = {name: compare_tables(*pair) for name, pair in pairs.items() if all(map(len, pair))}
    if not compared:
        raise UserError(f"{a} and {b} have no table of numbers in common")
    return compared


def compare_tables(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Join two records on the columns that identify their rows; those of `a` stand first.

    What is said of a model beside its name identifies only rows without a name. The frame has the identifying
    columns that are not empty and `COLUMNS`: ``difference`` is b - a; ``overlap``, of the two intervals, is missing
    unless there are two; ``only_in`` is "a", "b" or missing.
    """
    sides = []
    for side, table in zip("ab", (a, b), strict=True):
        names = table[IDENTITY].astype("str").fillna("")
        names.loc[names.model != "", list(FACTS)] = ""
        if names.duplicated().any():
            raise UserError(f"two rows are called {' '.join(filter(None, names[names.duplicated()].iloc[0]))}")
        sides.append(names.assign(**{side: table.value, f"low_{side}": table.low, f"high_{side}": table.high}))
    keys = [key for key in IDENTITY if any((side[key] != "").any() for side in sides)]
    sides = [side.drop(columns=[key for key in IDENTITY if key not in keys]) for side in sides]
    joined = sides[0].merge(sides[1], how="outer", on=keys, indicator=True)
    places = {key: i for i, key in enumerate(dict.fromkeys(_names(sides[0], keys) + _names(sides[1], keys)))}
    joined = joined.iloc[np.argsort([places[name] for name in _names(joined, keys)])].reset_index(drop=True)
    joined["difference"] = joined.b - joined.a
    known = joined[["low_a", "high_a", "low_b", "high_b"]].notna().all(axis=1)
    meet = (joined.low_a <= joined.high_b) & (joined.low_b <= joined.high_a)
    joined["overlap"] = meet.astype("boolean").where(known)
    joined["only_in"] = joined["_merge"].astype(str).map({"left_only": "a", "right_only": "b"})
    return joined[[*keys, *COLUMNS]]


def settings_differences(a: str | Path, b: str | Path) -> list[str]:
    """Return distinct lines such as "scores/tto: tau is 0.9 in a, 0.8 in b", from what both folders have."""
    lines: dict[str, None] = {}
    for path in sorted(Path(a).rglob("*.parquet")):
        place = path.relative_to(a)
        if (Path(b) / place).is_file():
            step = "/".join(place.parts[: 2 if place.parts[0] in ("scores", "models") else 1])
            for line in _differences(_settings(path), _settings(Path(b) / place)):
                lines[f"{step}: {line}"] = None
    manifests = [Path(folder) / "corpus/manifest.json" for folder in (a, b)]
    if all(manifest.is_file() for manifest in manifests):
        one, other = (read_manifest(manifest) for manifest in manifests)
        lines |= dict.fromkeys(f"corpus: {line}" for line in _differences(one["settings"], other["settings"]))
        if one["splits"] != other["splits"]:
            lines["corpus: the text is another"] = None
    return list(lines)


def markdown(compared: Mapping[str, pd.DataFrame], settings: Sequence[str], a: str | Path, b: str | Path) -> str:
    """Return the comparison in Markdown: a section per table, then the rows found in only one folder."""
    differing = ["Settings that differ:", "", *(f"- {line}" for line in settings)]
    lines = [f"# a: {a} · b: {b}", ""]
    lines += [*(differing if settings else ["No setting differs in what both folders hold."]), ""]
    for name, table in compared.items():
        lines += [f"## {name}", ""]
        both = table[table.only_in.isna()]
        if len(both):
            lines += [markdown_table(Section("", _rows(both))), ""]
        for side, folder in (("a", a), ("b", b)):
            alone = table[table.only_in == side]
            if len(alone):
                keys = [key for key in IDENTITY if key in table]
                rows = "; ".join(" ".join(part for part in row if part) for row in alone[keys].itertuples(index=False))
                lines += [f"Only in {folder}: {rows}.", ""]
    lines.append(
        "difference: b - a. overlap: whether the two 95 % intervals of the means have a point in common. Where they "
        "have none the means differ by more than chance among windows; where they have one, that is not said."
    )
    return "\n".join(lines)


def _tables(folder: str | Path) -> dict[str, Path]:
    if not Path(folder).is_dir():
        raise UserError(f"{folder}: no such folder")
    tables = {path.stem: path for path in sorted(Path(folder, "tables").glob("*.csv"))}
    if not tables:
        raise UserError(f"{folder}: no tables in it (looked for {folder}/tables/*.csv); build some first")
    return tables


def _names(table: pd.DataFrame, keys: Sequence[str]) -> list[tuple]:
    return list(table[list(keys)].itertuples(index=False, name=None))


def _rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    keys = [key for key in IDENTITY if key in table and table[key].ne("").any()]
    rows = []
    for row in table.to_dict("records"):
        cells: dict[str, Cell] = {key: literal(row[key]) for key in keys}
        cells |= {side: Value(row[side], None, row[f"low_{side}"], row[f"high_{side}"]) for side in "ab"}
        difference = row["difference"]
        sign = "+" if difference > 0 else ""
        cells["difference"] = None if pd.isna(difference) else f"{sign}{number(difference)}"
        cells["overlap"] = None if pd.isna(row["overlap"]) else "yes" if row["overlap"] else "no"
        rows.append(cells)
    return rows


def _settings(path: Path) -> Any:
    with open_reader(path) as reader:
        return json.loads((reader.schema_arrow.metadata or {}).get(b"settings", b"null"))


def _differences(a: Any, b: Any, where: str = "") -> Iterator[str]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in sorted(a.keys() | b.keys()):
            yield from _differences(a.get(key, "missing"), b.get(key, "missing"), f"{where}.{key}".lstrip("."))
    elif a != b:
        yield f"{where or 'settings'} is {json.dumps(a)} in a, {json.dumps(b)} in b"
