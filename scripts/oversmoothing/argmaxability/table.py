"""From argmaxable classes to Tables B.1 and B.2: which bytes no hidden state makes the most probable."""

import string
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.byte_names import byte_name
from oversmoothing.layout import (
    MISSING,
    latex_text,
    markdown_text,
    model_cells,
    read_csv,
    stand_ins,
    write_latex_tables,
    write_page,
)
from oversmoothing.published import DIFFERENCES

CONDITIONS = {"free": "any h", "reachable": "h after the LayerNorm"}
PUBLISHED_CONDITION = "free"  # the thesis looked at the head alone
MATTERS = ("data", "scale", "rank")  # of what a setting may differ in; no truth or threshold touches a head
SHORTEST_RUN = 3


def read_published_sets(path: str | Path) -> pd.DataFrame:
    """Read the transcription of Tables B.1 and B.2.

    Returns
    -------
    DataFrame
        Index ``model``; ``count`` as the thesis prints it; ``bytes``, a set of those that its text lists.
    """
    table = read_csv(path, dtype=str, keep_default_na=False).set_index("model")
    return table.assign(count=table["count"].astype(int), bytes=table.bytes.map(_from_hex))


def argmaxability_table(
    classes: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
    missing: Collection[str] = (),
) -> pd.DataFrame:
    """Set each model's unargmaxable bytes beside the thesis's.

    Parameters
    ----------
    classes : DataFrame
        ``model``, ``condition``, ``class``, ``argmaxable``; one row each.
    models : sequence of mappings
        ``model``, ``rank``, ``seed``, ``published_as``, ``differs`` of each (see the workflow's plan).
    published : DataFrame
        As `read_published_sets` gives it.
    missing : collection of str
        Models that are not finished; of ours, their rows are empty.

    Returns
    -------
    DataFrame
        One row per model and condition: ``unargmaxable`` is their number, ``bytes`` names them in hexadecimal.
        Where the thesis has that rank, ``published_unargmaxable`` is its number, and ``only_ours`` and
        ``only_published`` are what stands in one of the two sets alone; ``published_unlisted`` of its bytes are
        counted there but not legible.
    """
    rows = []
    for model in models:
        for condition in CONDITIONS:
            own = classes[(classes.model == model["model"]) & (classes.condition == condition)]
            ours = set(own.loc[~own.argmaxable, "class"])
            row = {
                **{key: model[key] for key in ("model", "rank", "seed")},
                "condition": condition,
                "unargmaxable": None if model["model"] in missing else len(ours),
                "bytes": None if model["model"] in missing else _to_hex(ours),
            }
            if condition == PUBLISHED_CONDITION and model["published_as"] in published.index:
                theirs = published.loc[model["published_as"]]
                row |= {
                    "published_model": model["published_as"],
                    "published_unargmaxable": theirs["count"],
                    "published_unlisted": theirs["count"] - len(theirs["bytes"]),
                    "only_ours": None if model["model"] in missing else _to_hex(ours - theirs["bytes"]),
                    "only_published": None if model["model"] in missing else _to_hex(theirs["bytes"] - ours),
                    "published_differs": " ".join(name for name in model["differs"] if name in MATTERS),
                }
            rows.append(row)
    columns = ["published_model", "published_unargmaxable", "published_unlisted"]
    columns += ["only_ours", "only_published", "published_differs"]
    table = pd.DataFrame(rows)
    table = table.reindex(columns=[*table.columns, *(name for name in columns if name not in table)])
    whole = ["rank", "seed", "unargmaxable", "published_unargmaxable", "published_unlisted"]
    return table.astype(dict.fromkeys(whole, "Int64"))


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str) -> None:
    """Write the table to be read: a row per model and condition, bytes by their names."""
    write_page(paths, title, [("", _wide(table, markdown_text))], _legend(table))


def write_latex(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the same as a LaTeX table."""
    wide = _wide(table, _latex_name)
    wide["rank"] = wide["rank"].map(latex_text)
    widths = {"bytes": "0.3", "only ours": "0.15", "only published": "0.15"}
    layout = "".join(f"p{{{widths[name]}\\linewidth}}" if name in widths else "l" for name in wide)
    write_latex_tables(path, [(wide, f"{title} {_legend(table)}")], layout, "\\scriptsize\\raggedright\n")


def _wide(table: pd.DataFrame, escape: Callable[[str], str]) -> pd.DataFrame:
    several_seeds = table.seed.nunique() > 1
    rows = []
    for row in table.to_dict("records"):
        known = pd.notna(row["published_unargmaxable"])
        missing = pd.isna(row["unargmaxable"])
        cells = model_cells(row, several_seeds) | {
            "h": CONDITIONS[row["condition"]],
            "unargmaxable": MISSING if missing else str(row["unargmaxable"]),
            "published": str(row["published_unargmaxable"]) if known else "-",
            "bytes": MISSING if missing else _names(row["bytes"], escape),
            "only ours": "-" if not known else MISSING if missing else _names(row["only_ours"], escape),
            "only published": "-" if not known else MISSING if missing else _names(row["only_published"], escape),
        }
        rows.append(cells)
    return pd.DataFrame(rows)


def _names(hexadecimal: str, escape: Callable[[str], str]) -> str:
    """Name bytes; three or more in a row of one kind (letters, controls, ...) as first..last."""
    runs: list[list[int]] = []
    for b in sorted(_from_hex(hexadecimal)):
        if runs and b == runs[-1][-1] + 1 and _kind(b) == _kind(b - 1):
            runs[-1].append(b)
        else:
            runs.append([b])
    parts = []
    for run in runs:
        names = [escape(byte_name(b)) for b in run]
        parts += [f"{names[0]}..{names[-1]}"] if len(run) >= SHORTEST_RUN else names
    return " ".join(parts) or "none"


def _kind(b: int) -> str:
    """Say with which other bytes one may stand in a run; punctuation is always spelt out."""
    character = chr(b)
    for kind in (string.digits, string.ascii_uppercase, string.ascii_lowercase):
        if character in kind:
            return kind
    if b < ord(" "):
        return "control"
    return "high" if b > ord("\x7f") else character


def _legend(table: pd.DataFrame) -> str:
    parts = [
        "Bytes that no hidden state h makes strictly the most probable: for any h, and for those h that the LayerNorm "
        "in front of the head can give; each is proven. Names as in Figure A.1; two dots join the ends of a run",
    ]
    beside = table[table.published_model.notna()]
    if len(beside):
        parts.append(
            "The published sets are for any h and come from an approximate search, so they are upper bounds: "
            "it may have missed an h"
        )
        differs = set(" ".join(beside.published_differs).split())
        if others := [DIFFERENCES[name] for name in DIFFERENCES if name in differs]:
            parts.append(f"They are of {' and '.join(others)}: compare trends, not bytes")
    for row in beside.drop_duplicates("published_model").to_dict("records"):
        if row["published_unlisted"]:
            parts.append(
                f"Of the {row['published_unargmaxable']} published at rank {row['published_model']}, "
                f"{row['published_unlisted']} is not legible and stands in no set here"
            )
    parts += stand_ins(beside)
    return ". ".join(parts) + "."


def _latex_name(text: str) -> str:
    return f"\\texttt{{{latex_text(text)}}}"


def _to_hex(values: Iterable[int]) -> str:
    return " ".join(f"{b:02X}" for b in sorted(values))


def _from_hex(text: str) -> set[int]:
    return {int(value, 16) for value in text.split()}
