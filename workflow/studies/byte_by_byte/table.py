"""How often each byte is a model's argmax, and the NSMD where the byte is the correct one (thesis 4.3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.data.reader import read_split
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.numerics.statistics import WindowSums, summarise
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.class_names import BYTES, Names, names_of
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import IN_BRACKETS, Cell, Page, Section, Value, label, valued
from oversmoothing.tables.record import facts, numbers, record
from oversmoothing.tables.story import legend

TITLE = "{}: how often each is the most probable, and oversmoothing where it is right (Figures 4.2 and 4.3)."
NEVER = "{unit}s that occur and are never a model's most probable {unit}"
MOST = 256  # of which each has its rows
EXTREMES = 10  # most and least frequent bytes, as in Figure 4.3
ARGMAX, NSMD = "argmax_share", "nsmd"
OCCURRENCES, SHARE = "occurrences", "share"
TRAINING = "training_occurrences"
KEYS = ["window", "byte"]


def main(job: Job) -> None:
    """Read the sums of the truths and the family, and the training text if there is one; write the table."""
    settings, names = job.params.settings, names_of(job.input.vocabulary)
    models, title = settings["models"], TITLE.format(f"{names.unit}s".capitalize())
    table = byte_table(read_sums(job.input.sums), models, settings["resamples"], settings["seed"], names)
    if job.input.training:
        counts = count_bytes(read_split(job.input.training, job.input.manifest, "train"))
        of_training = [{"class": byte, "measure": TRAINING, "value": int(n)} for byte, n in enumerate(counts)]
        table = pd.concat([table, record(of_training)], ignore_index=True)
    write_record(job.output, table, byte_page(table, title, models, names))


def read_sums(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Read the sums of several models, one ``{model}.parquet`` each, into one table with a column ``model``.

    A `UserError` is raised if a file is empty, or has other windows than the first.
    """
    tables: dict[Path, pd.DataFrame] = {}
    texts: dict[Path, pd.DataFrame] = {}
    for path in map(Path, paths):
        table = read_table(path, [*KEYS, "measure", "truth", "value"]).to_pandas()
        table = table.astype({"measure": object, "truth": object})
        if table.empty:
            raise UserError(f"{path}: no rows; delete it and run again")
        occurrences = table[table.measure == "occurrences"]
        texts[path] = occurrences[[*KEYS, "value"]].sort_values(KEYS, ignore_index=True)
        first = next(iter(texts))
        if not texts[path].equals(texts[first]):
            raise UserError(f"{path}: other windows than {first}; delete both and run again")
        tables[path] = table.assign(model=path.stem)
    return pd.concat(tables.values(), ignore_index=True)


def byte_table(
    sums: pd.DataFrame, models: Sequence[Mapping[str, Any]], resamples: int, seed: int, names: Names = BYTES
) -> pd.DataFrame:
    """Return the frequency of each byte in the text and as each model's argmax, and the model's NSMD at it.

    They are from `read_sums`.

    The ``class`` of the record is the byte. First come those of the text, from the most to the least frequent byte:
    ``occurrences``, with the byte's name in ``note``, and ``share``. Then of each byte in the same order, by model:
    ``argmax_share`` (over all positions, for every byte that occurs or is an argmax) and ``nsmd`` (against a truth,
    over the positions where the byte is the correct one, resampled over the windows that contain it). Of more than
    `MOST` tokens, only the most and least frequent ones that occur have rows.
    """
    text = sums[(sums.model == sums.model.iloc[0]) & (sums.measure == "occurrences")]
    occurrences = text.groupby("byte").value.sum()
    positions = text.groupby("window").value.sum()
    argmaxes = sums[sums.measure == "argmaxes"]
    known = sorted({*occurrences.index, *argmaxes.byte}, key=lambda byte: (-occurrences.get(byte, 0), byte))
    if names.size > MOST:
        known = [byte for byte in known if byte in occurrences.index]
        known = [*known[:EXTREMES], *known[EXTREMES:][-EXTREMES:]]
    rows = []
    for model in models:
        of_model = sums[sums.model == model["model"]]
        chosen = _by_window(of_model, "argmaxes").reindex(index=positions.index, columns=known).fillna(0.0)
        for byte in known:  # values are 0 or 1, so they equal their squares
            share = _summary(positions, chosen[byte], chosen[byte], resamples, seed)
            rows.append({**facts(model), "class": byte, "measure": ARGMAX, **share, "unit": "share of positions"})
        counts = _by_window(of_model, "occurrences")
        for truth in of_model.truth.dropna().unique():
            against = of_model[of_model.truth == truth]
            totals, squares = _by_window(against, "nsmd"), _by_window(against, "nsmd_squares")
            for byte in (byte for byte in occurrences.index if byte in known):
                has = counts.index[counts[byte] > 0]
                mean = _summary(counts[byte][has], totals[byte][has], squares[byte][has], resamples, seed)
                described = {"unit": METRICS[NSMD].unit, "better": METRICS[NSMD].better}
                rows.append({**facts(model), "class": byte, "measure": NSMD, "truth": truth, **mean, **described})
    place = {byte: i for i, byte in enumerate(known)}
    rows.sort(key=lambda row: place[row["class"]])
    counts = {byte: int(occurrences.get(byte, 0)) for byte in known}
    of_text = [
        {"class": byte, "measure": OCCURRENCES, "value": n, "note": names.name(byte)} for byte, n in counts.items()
    ]
    of_text += [{"class": byte, "measure": SHARE, "value": n / positions.sum()} for byte, n in counts.items()]
    return record(of_text + rows)


def count_bytes(data: np.ndarray, block: int = 1 << 24) -> np.ndarray:
    """Count each byte value (256,) of uint8 data, in blocks so that a mapped file is never wholly in memory."""
    counts = np.zeros(BYTES.size, np.int64)
    for start in range(0, len(data), block):
        counts += np.bincount(data[start : start + block], minlength=BYTES.size)
    return counts


def text_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return ``name``, ``occurrences`` and ``share`` of each byte in the text, by byte in the order of the table."""
    counts, shares = (table[table.measure == name].set_index("class") for name in (OCCURRENCES, SHARE))
    return pd.DataFrame({"name": counts.note, OCCURRENCES: counts.value.astype(int), SHARE: shares.value})


def never_argmax(table: pd.DataFrame) -> dict[str, list[int]]:
    """Return bytes that occur but are never a model's argmax, by model, the most frequent first."""
    text = text_of(table)
    argmax = table[(table.measure == ARGMAX) & table["class"].isin(text.index[text.occurrences > 0])]
    never = argmax[argmax.value == 0]
    return {str(model): never["class"][never.model == model].tolist() for model in argmax.model.unique()}


def byte_page(table: pd.DataFrame, title: str, models: Sequence[Mapping[str, Any]], names: Names = BYTES) -> Page:
    """Return the page with the most and the least frequent bytes, and those that are never an argmax.

    The latter are listed only if there are few names.

    The columns are those of `models`: ``model``, ``kind``, ``rank``, ``seed`` of each.
    """
    several_seeds = len({model["seed"] for model in models if model["kind"] == "family"}) > 1
    labels, unit = {str(model["model"]): label(model, several_seeds) for model in models}, names.unit
    text = text_of(table)
    sections = [Section(heading, _rows(part, text, labels, names)) for heading, part in _parts(table, unit)]
    if names.size <= MOST:
        sections.append(Section(NEVER.format(unit=unit).capitalize(), _never(table, labels, names), latex=False))
    n = int(table.n[table.measure == ARGMAX].max())
    words = legend(__file__, f"{unit}s", unit=unit, n=n, named=names.legend)
    intervals = f"{IN_BRACKETS}; none where a {unit} is in one window alone or nowhere the most probable"
    return Page(title, sections, words, intervals)


def _by_window(sums: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return sums of a measure, windows by bytes; 0 where there is no row."""
    rows = sums[sums.measure == measure]
    return rows.pivot_table(index="window", columns="byte", values="value", aggfunc="sum", fill_value=0.0)


def _summary(count: pd.Series, total: pd.Series, squares: pd.Series, resamples: int, seed: int) -> dict[str, Any]:
    sums = WindowSums(count.to_dict(), total.to_dict(), squares.to_dict(), origin=0.0)
    return numbers(summarise(sums, resamples, seed))


def _parts(table: pd.DataFrame, unit: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield headings and rows for each measure, truth and extreme of the frequencies."""
    text = text_of(table)
    known = text.index[text.occurrences > 0]
    ends = {"most": known[:EXTREMES], "least": known[EXTREMES:][-EXTREMES:]}
    occurring = table[table.model.notna() & table["class"].isin(known)]
    for (measure, truth), part in occurring.groupby(["measure", "truth"], sort=False, dropna=False):
        what = f"How often each {unit} is the most probable"
        if measure == NSMD:
            what = f"NSMD against `{truth}` where the {unit} is the right one"
        for end, chosen in ends.items():
            if len(chosen):
                yield f"{what}: the {len(chosen)} {end} frequent {unit}s", part[part["class"].isin(chosen)]


def _rows(part: pd.DataFrame, text: pd.DataFrame, labels: Mapping[str, str], names: Names) -> list[dict[str, Cell]]:
    rows = []
    for byte, of_byte in part.groupby("class", sort=False):
        counted, records = text.loc[byte], of_byte.set_index("model").to_dict("index")
        row: dict[str, Cell] = {
            names.unit: names.cell(counted["name"]),
            "occurrences": Value(counted.occurrences, decimals=0),
            "share": Value(counted.share),
        }
        share = part.measure.iloc[0] == ARGMAX
        for model in (model for model in labels if model in records):
            # The sd of a share follows from the mean, and a bootstrap of zeros is degenerate.
            degenerate = share and not records[model]["value"]
            row[labels[model]] = Value(0.0) if degenerate else valued(records[model], spread=not share)
        rows.append(row)
    return rows


def _never(table: pd.DataFrame, labels: Mapping[str, str], names: Names) -> list[dict[str, Cell]]:
    text = text_of(table)
    occurring = text[text.occurrences > 0]
    return [
        {
            "model": labels[model],
            f"{names.unit}s": f"{len(bytes_)} of {len(occurring)}",
            "share of the text": Value(occurring.share[bytes_].sum()),
            "which, the most frequent first": names.cell(" ".join(occurring.name[bytes_])) if bytes_ else "none",
        }
        for model, bytes_ in never_argmax(table).items()
    ]


if __name__ == "__main__":
    run(main)
