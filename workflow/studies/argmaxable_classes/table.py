"""Tables B.1 and B.2: the bytes that no hidden state makes the most probable."""

import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.data.byte_names import byte_name
from oversmoothing.jobs import Job, run
from oversmoothing.store.layout import read_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.class_names import BYTES, Names, names_of
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Bytes, Cell, Page, Section, by_model
from oversmoothing.tables.published import caveats, that_matter
from oversmoothing.tables.record import facts, record
from oversmoothing.tables.story import legend

TITLE = "Unargmaxable {} {{by}} (Tables B.1 and B.2)."
WIDTHS = {"rank": 1.1, "h": 1.6, "unargmaxable": 2.9, "published": 2, "bytes": 6, "only ours": 2, "only published": 2}
CONDITIONS = {"free": "any h", "reachable": "h after the LayerNorm"}
PUBLISHED_CONDITION = "free"  # the thesis considers the head alone
SHORTEST_RUN = 3
LISTED = 12  # tokens that a row names


def main(job: Job) -> None:
    """Read the classes of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    columns = ["condition", "class", "argmaxable"]
    classes = [read_table(path, columns).to_pandas().assign(model=Path(path).stem) for path in job.input.classes]
    published = read_published_sets(*job.input.published)
    table = argmaxability_table(pd.concat(classes), job.params.settings["models"], published)
    names = names_of(job.input.vocabulary)
    write_record(job.output, table, argmaxability_page(table, TITLE.format(f"{names.unit}s"), names))


def read_published_sets(path: str | Path | None = None) -> pd.DataFrame:
    """Read Tables B.1 and B.2: the ``count`` of unargmaxable bytes and the set listed, by ``model``, if any."""
    if not path:
        return pd.DataFrame(columns=["count", "bytes"])
    table = read_csv(path, dtype=str, keep_default_na=False).set_index("model")
    listed = table.bytes.map(lambda text: {int(value, 16) for value in text.split()})
    return table.assign(count=table["count"].astype(int), bytes=listed)


def argmaxability_table(
    classes: pd.DataFrame, models: Sequence[Mapping[str, Any]], published: pd.DataFrame
) -> pd.DataFrame:
    """Return the unargmaxable bytes of each model, beside the published ones (`read_published_sets`).

    `classes` have a ``model``. Of each model and condition the record has ``unargmaxable``, the number of such bytes,
    each proven, which ``note`` lists in hexadecimal; up to ``undecided`` more may be. Where the thesis has the rank,
    ``only_ours`` and ``only_published`` are the bytes that are proven to be in only one of the two sets, and
    ``unlisted`` those that the thesis counts but that are not legible.
    """
    rows = []
    for model in models:
        for condition in CONDITIONS:
            part = classes[(classes.model == model["model"]) & (classes.condition == condition)]
            if part.empty:  # of a head alone, the norm in front of it is not known
                continue
            undecided = set(part.loc[part.argmaxable.isna(), "class"])
            ours = set(part.loc[~part.argmaxable.astype("boolean").fillna(True), "class"])
            keys = {**facts(model), "condition": condition, "unit": "classes"}
            counted = {**keys, "measure": "unargmaxable", **_set(ours)}
            rows += [counted, {**keys, "measure": "undecided", "value": len(undecided)}]
            if condition == PUBLISHED_CONDITION and model["published_as"] in published.index:
                count, listed = published.loc[model["published_as"], ["count", "bytes"]]
                differs = " ".join(that_matter(model["differs"]))
                counted |= {"published": count, "published_model": model["published_as"], "published_differs": differs}
                rows.append({**keys, "measure": "unlisted", "published": count - len(listed)})
                alone = {"only_ours": ours - listed, "only_published": listed - ours - undecided}
                rows += [{**keys, "measure": name, **_set(some)} for name, some in alone.items() if some]
    return record(rows)


def _set(classes: set[int]) -> dict[str, Any]:
    """Return columns of a set of classes: their number, and which they are."""
    return {"value": len(classes), "note": " ".join(f"{b:02X}" for b in sorted(classes)) or None}


def argmaxability_page(table: pd.DataFrame, title: str, classes: Names = BYTES) -> Page:
    """Return the page with one row per model and condition; bytes are listed by name, and of tokens the first."""
    rows: list[dict[str, Cell]] = []
    for cells, part in by_model(table, "condition"):
        by = part.assign(note=part.note.fillna("")).set_index("measure")
        cells["h"] = CONDITIONS[part.condition.iloc[0]]
        proven, undecided = (int(by.value[name]) for name in ("unargmaxable", "undecided"))
        cells["unargmaxable"] = f"{proven} to {proven + undecided}" if undecided else str(proven)
        if classes is not BYTES:
            rows.append(cells | {"tokens": _first(by.note["unargmaxable"], classes)})
            continue
        cells |= dict.fromkeys(("published", "bytes", "only ours", "only published"))
        cells["bytes"] = _names(by.note["unargmaxable"])
        if pd.notna(by.published["unargmaxable"]):
            cells["published"] = str(int(by.published["unargmaxable"]))
            cells |= {name: _names(by.note.get(name.replace(" ", "_"), "")) for name in ("only ours", "only published")}
        rows.append(cells)
    return Page(title, [Section("", rows, WIDTHS)], _legend(table, classes))


def _names(hexadecimal: str) -> Cell:
    """Return bytes by name; runs of three or more of one kind (letters, controls, ...) as first..last."""
    runs: list[list[int]] = []
    for b in sorted(_from_hex(hexadecimal)):
        if runs and b == runs[-1][-1] + 1 and _kind(b) == _kind(b - 1):
            runs[-1].append(b)
        else:
            runs.append([b])
    parts = []
    for bytes_ in runs:
        names = [byte_name(b) for b in bytes_]
        parts += [f"{names[0]}..{names[-1]}"] if len(names) >= SHORTEST_RUN else names
    return Bytes(" ".join(parts)) if parts else "none"


def _first(hexadecimal: str, classes: Names) -> str:
    """Return the first of some tokens, by their text."""
    tokens = sorted(_from_hex(hexadecimal))
    named = ", ".join(f"“{classes.cell(classes.name(token))}”" for token in tokens[:LISTED])
    return f"{named}{' ...' * (len(tokens) > LISTED)}" if tokens else "none"


def _kind(b: int) -> str:
    """Return the kind of a byte for runs; punctuation is always listed in full."""
    character = chr(b)
    for kind in (string.digits, string.ascii_uppercase, string.ascii_lowercase):
        if character in kind:
            return kind
    if b < ord(" "):
        return "control"
    return "high" if b > ord("\x7f") else character


def _legend(table: pd.DataFrame, classes: Names) -> list[str]:
    printed = table[table.published_model.notna()]
    undecided = table.value[table.measure == "undecided"].any()
    told = {"unit": classes.unit, "undecided": undecided, "printed": len(printed)}
    parts = legend(__file__, "argmaxability", **told)
    unlisted = table[table.measure == "unlisted"].set_index("model").published
    for row in printed.drop_duplicates("published_model").to_dict("records"):
        if unlisted[row["model"]]:
            parts.append(
                f"Of the {row['published']:.0f} published at rank {row['published_model']}, "
                f"{unlisted[row['model']]:.0f} is not legible and stands in no set here"
            )
    return parts + caveats(printed, "trends, not bytes")


def _from_hex(text: str) -> set[int]:
    return {int(value, 16) for value in text.split()}


if __name__ == "__main__":
    run(main)
