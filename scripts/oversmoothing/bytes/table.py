"""From sums by window and byte to a table: how often each byte is the argmax, and the NSMD where it is right (4.3)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.byte_names import byte_name
from oversmoothing.jobs import UserError
from oversmoothing.layout import (
    latex_cell,
    latex_text,
    markdown_cell,
    markdown_text,
    number,
    write_latex_tables,
    write_page,
)
from oversmoothing.samples.page import label
from oversmoothing.statistics import WindowSums, summarise
from oversmoothing.store.parquet import read_table

EXTREMES = 10  # most and least frequent bytes, as in Figure 4.3
ARGMAX, NSMD = "argmax_share", "nsmd"
KEYS = ["window", "byte"]


def read_sums(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Read the sums of several models, ``{model}.parquet`` each, into one table with a column ``model``.

    Raises
    ------
    UserError
        If a file is missing, damaged or empty, or of other windows than the first.
    """
    tables: list[pd.DataFrame] = []
    text: list[pd.DataFrame] = []
    first: Path | None = None
    for path in map(Path, paths):
        first = first or path
        own = read_table(path, [*KEYS, "measure", "truth", "value"]).to_pandas()
        own = own.astype({"measure": object, "truth": object})
        if own.empty:
            raise UserError(f"{path}: no rows; delete it and run again")
        text.append(own[own.measure == "occurrences"][[*KEYS, "value"]].sort_values(KEYS, ignore_index=True))
        if not text[-1].equals(text[0]):
            raise UserError(f"{path}: other windows than {first}; delete both and run again")
        tables.append(own.assign(model=path.stem))
    return pd.concat(tables, ignore_index=True)


def byte_table(sums: pd.DataFrame, models: Sequence[Mapping[str, Any]], resamples: int, seed: int) -> pd.DataFrame:
    """Say of each byte how often it occurs, how often each model thinks it most probable, and the model's NSMD there.

    Parameters
    ----------
    sums : DataFrame
        As `read_sums` gives it.
    models : sequence of mappings
        ``model``, ``rank`` and ``seed`` of each, in the order wanted.
    resamples, seed : int
        Of the bootstrap over windows. The mean NSMD at a byte is resampled over the windows that have it.

    Returns
    -------
    DataFrame
        A row per byte, measure, model and truth, from the most to the least frequent byte. ``occurrences`` and
        ``share`` are the text's. ``measure`` is "argmax_share", over all positions, for every byte that occurs or is
        an argmax; or "nsmd" against ``truth``, over the positions whose byte it is. Then ``mean``, ``sd``, ``n``,
        ``low``, ``high``.
    """
    text = sums[(sums.model == sums.model.iloc[0]) & (sums.measure == "occurrences")]
    occurrences = text.groupby("byte").value.sum()
    positions = text.groupby("window").value.sum()
    argmaxes = sums[sums.measure == "argmaxes"]
    known = sorted({*occurrences.index, *argmaxes.byte}, key=lambda byte: (-occurrences.get(byte, 0), byte))
    rows = []
    for model in models:
        own = sums[sums.model == model["model"]]
        chosen = _by_window(own, "argmaxes").reindex(index=positions.index, columns=known).fillna(0.0)
        for byte in known:  # values are 0 or 1, so their squares sum to the same
            share = _summary(positions, chosen[byte], chosen[byte], resamples, seed)
            rows.append({"byte": byte, "measure": ARGMAX, "model": model["model"], "truth": None, **share})
        counts = _by_window(own, "occurrences")
        for truth in own.truth.dropna().unique():
            against = own[own.truth == truth]
            totals, squares = _by_window(against, "nsmd"), _by_window(against, "nsmd_squares")
            for byte in occurrences.index:
                has = counts.index[counts[byte] > 0]
                mean = _summary(counts[byte][has], totals[byte][has], squares[byte][has], resamples, seed)
                rows.append({"byte": byte, "measure": NSMD, "model": model["model"], "truth": truth, **mean})
    table = pd.DataFrame(rows)
    facts = pd.DataFrame(models).set_index("model")
    table.insert(1, "name", table.byte.map(byte_name))
    table.insert(2, "occurrences", table.byte.map(occurrences).fillna(0).astype(int))
    table.insert(3, "share", table.occurrences / positions.sum())
    table.insert(table.columns.get_loc("model") + 1, "rank", table.model.map(facts["rank"]).astype("Int64"))
    table.insert(table.columns.get_loc("rank") + 1, "seed", table.model.map(facts["seed"]).astype("Int64"))
    place = {byte: i for i, byte in enumerate(known)}
    return table.sort_values("byte", key=lambda column: column.map(place), kind="stable", ignore_index=True)


def never_argmax(table: pd.DataFrame) -> dict[str, list[int]]:
    """List, for each model, the bytes that occur and are nowhere its most probable byte, the most frequent first."""
    argmax = table[(table.measure == ARGMAX) & (table.occurrences > 0)]
    return {str(model): own.byte[own["mean"] == 0].tolist() for model, own in argmax.groupby("model", sort=False)}


def write_pages(
    table: pd.DataFrame, paths: Sequence[str | Path], title: str, models: Sequence[Mapping[str, Any]]
) -> None:
    """Write the most and the least frequent bytes to be read, and which bytes are never an argmax.

    Parameters
    ----------
    table : DataFrame
        As `byte_table` gives it.
    path : path
    title : str
    models : sequence of mappings
        ``model``, ``kind``, ``rank``, ``seed`` of each, in the order of the columns.
    """
    names = _labels(models)
    sections = [(heading, _wide(part, names, markdown_cell, markdown_text)) for heading, part in _sections(table, "`")]
    sections.append((NEVER, _never(table, names, markdown_text)))
    write_page(paths, title, sections, _legend(table))


def write_latex(table: pd.DataFrame, path: str | Path, title: str, models: Sequence[Mapping[str, Any]]) -> None:
    """Write the most and the least frequent bytes as LaTeX tables."""
    names = _labels(models)
    tables = [
        (_wide(part, names, latex_cell, _latex_name), f"{title} {heading}. {_legend(table, intervals=False)}")
        for heading, part in _sections(table, "")
    ]
    write_latex_tables(path, tables)


NEVER = "Bytes that occur and are never a model's most probable byte"


def _by_window(sums: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Set the sums of a measure as windows by bytes; 0 where there is no row."""
    return sums[sums.measure == measure].pivot_table(
        index="window", columns="byte", values="value", aggfunc="sum", fill_value=0.0
    )


def _summary(
    count: pd.Series, total: pd.Series, squares: pd.Series, resamples: int, seed: int
) -> dict[str, float | int]:
    counts, totals, of_squares = (
        dict(zip(count.index.tolist(), part.tolist(), strict=True)) for part in (count, total, squares)
    )
    return vars(summarise(WindowSums(counts, totals, of_squares, origin=0.0), resamples, seed))


def _labels(models: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    several_seeds = len({model["seed"] for model in models if model["kind"] == "family"}) > 1
    return {str(model["model"]): label(model, several_seeds) for model in models}


def _sections(table: pd.DataFrame, quote: str) -> Iterable[tuple[str, pd.DataFrame]]:
    """Split into one part per measure, truth and end of the frequencies."""
    occurring = table[table.occurrences > 0]
    known = occurring.byte.unique()
    ends = {"most": known[:EXTREMES], "least": known[EXTREMES:][-EXTREMES:]}
    for (measure, truth), part in occurring.groupby(["measure", "truth"], sort=False, dropna=False):
        what = "How often each byte is the most probable"
        if measure == NSMD:
            what = f"NSMD against {quote}{truth}{quote} where the byte is the right one"
        for end, chosen in ends.items():
            if len(chosen):
                yield f"{what}: the {len(chosen)} {end} frequent bytes", part[part.byte.isin(chosen)]


def _wide(
    part: pd.DataFrame, names: Mapping[str, str], cell: Callable[..., str], literal: Callable[[str], str]
) -> pd.DataFrame:
    rows = []
    for _, own in part.groupby("byte", sort=False):
        first, records = own.iloc[0], {row["model"]: row for row in own.to_dict("records")}
        row = {"byte": literal(first["name"]), "occurrences": f"{first.occurrences:,}", "share": number(first.share)}
        for model, name in names.items():
            if model in records:
                found = records[model]
                if found["measure"] == ARGMAX:  # its sd follows from its mean, and a bootstrap knows nothing of zeros
                    found |= {"sd": None} | ({} if found["mean"] else {"low": None, "high": None})
                row[name] = cell(found["mean"], found["sd"], found["low"], found["high"])
        rows.append(row)
    return pd.DataFrame(rows)


def _never(table: pd.DataFrame, names: Mapping[str, str], literal: Callable[[str], str]) -> pd.DataFrame:
    occurring = table[table.occurrences > 0].drop_duplicates("byte").set_index("byte")
    rows = []
    for model, bytes_ in never_argmax(table).items():
        rows.append(
            {
                "model": literal(names[model]),
                "bytes": f"{len(bytes_)} of {len(occurring)}",
                "share of the text": number(occurring.share[bytes_].sum()),
                "which, the most frequent first": " ".join(literal(occurring.name[byte]) for byte in bytes_) or "none",
            }
        )
    return pd.DataFrame(rows)


def _legend(table: pd.DataFrame, intervals: bool = True) -> str:
    n = int(table.n[table.measure == ARGMAX].max())
    parts = [
        f"Over {n:,} positions; occurrences and share are the text's own. Bytes are named as in Figure A.1",
        "A byte that is the most probable as often as it occurs has one share in all columns; being so does not say "
        "that it is at the right positions",
        "NSMD ± standard deviation is over the positions whose byte it is, so at the least frequent bytes over few",
    ]
    if intervals:
        parts.append(
            "[95 % interval of the mean, from a bootstrap over whole windows; none where a byte is in one window alone "
            "or nowhere the most probable]"
        )
    return ". ".join(parts) + "."


def _latex_name(text: str) -> str:
    return f"\\texttt{{{latex_text(text)}}}"
