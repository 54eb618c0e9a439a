"""Sample quality as people read it: Tables 5.3, 6.2, 6.3 and H.1, what is closest to human marked."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from oversmoothing.layout import (
    ARROWS,
    MISSING,
    latex_cell,
    latex_number,
    latex_text,
    markdown_cell,
    model_cells,
    number,
    stand_ins,
    write_latex_tables,
    write_page,
)
from oversmoothing.published import DIFFERENCES
from oversmoothing.quality.measures import MEASURES
from oversmoothing.quality.summaries import HUMAN, SECOND

PURE = "pure"
OF_SAMPLES = {
    "length": "samples of another length or number",
    "language_model": "another language model",
    "text": "another part of the samples",
}
HEADINGS = {
    "pure": "Pure sampling (Table 5.3)",
    "decodings": "By decoding (Tables 6.2 and 6.3)",
    "svd": "Truncated heads, pure sampling (Table H.1)",
}


@dataclass(frozen=True)
class _Setting:
    """How a number is set: with its spread, or alone, or alone and marked; and what stands where there is none."""

    spread: Callable[..., str]
    plain: Callable[[float], str]
    marked: Callable[[float], str]
    none: str


MARKDOWN = _Setting(markdown_cell, number, lambda value: f"**{number(value)}**", "-")
LATEX = _Setting(
    latex_cell, lambda value: f"${latex_number(value)}$", lambda value: rf"$\mathbf{{{latex_number(value)}}}$", "--"
)


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str, completed: Collection[str]) -> None:
    """Write the table to be read, in the thesis's three layouts.

    Parameters
    ----------
    table : DataFrame
        As `summaries.beside_human` gives it.
    paths : paths
        Each .md or .html.
    title : str
    completed : collection of str
        The metrics that read the partial word of the prompt too.
    """
    sections = [(HEADINGS[name], cells) for name, cells in _sections(table, MARKDOWN)]
    write_page(paths, title, sections, _legend(table, completed))


def write_latex(table: pd.DataFrame, path: str | Path, title: str, completed: Collection[str]) -> None:
    """Write the same as LaTeX tables."""
    tables = []
    for name, cells in _sections(table, LATEX):
        words = [column for column in ("rank", "metric") if column in cells]
        cells[words] = cells[words].map(latex_text)
        tables.append((cells, f"{title} {HEADINGS[name]}. {_legend(table, completed)}"))
    write_latex_tables(path, tables)


def _sections(table: pd.DataFrame, setting: _Setting) -> Iterator[tuple[str, pd.DataFrame]]:
    human = table[table.kind == "human"]
    pure = table[(table.decoding == PURE) & table.kind.isin(["family", "truth"])]
    yield "pure", _by_metric(pd.concat([pure, human]), "family", setting)
    by_decoding = table[table.kind.isin(["family", "truth"])]
    if len(by_decoding):
        yield "decodings", _by_decoding(by_decoding, setting)
    svd = table[(table.kind == "svd") & (table.decoding == PURE)]
    if len(svd):
        yield "svd", _by_metric(pd.concat([svd, human[human.model == HUMAN]]), "svd", setting)


def _by_metric(part: pd.DataFrame, candidates: str, setting: _Setting) -> pd.DataFrame:
    """Set a row per model and, per metric, a column of ours and one published; mark the best of the `candidates`."""
    several_seeds = part.seed.nunique() > 1
    rows = []
    for _, own in part.groupby("model", sort=False):
        row = model_cells(own.iloc[0].to_dict(), several_seeds)
        for record in own.to_dict("records"):
            rivals = part[(part.metric == record["metric"]) & (part.kind == candidates)]
            best = record["kind"] == candidates and _is_closest(record, rivals)
            row[_label(record["metric"])] = _ours(record, best, setting)
            if part.loc[part.metric == record["metric"], "published_mean"].notna().any():
                row[f"published {MEASURES[record['metric']].label}"] = _published(record, setting)
        rows.append(row)
    return pd.DataFrame(rows).fillna(setting.none)


def _by_decoding(part: pd.DataFrame, setting: _Setting) -> pd.DataFrame:
    """Set a row per model and metric, a column of ours and one published per decoding; mark the best of each row."""
    several_seeds = part.seed.nunique() > 1
    rows = []
    for (_, metric), own in part.groupby(["model", "metric"], sort=False):
        first = own.iloc[0].to_dict()
        row = model_cells(first, several_seeds) | {"metric": _label(str(metric))}
        for record in own.to_dict("records"):
            row[record["decoding"]] = _ours(record, _is_closest(record, own), setting)
            if part.loc[part.decoding == record["decoding"], "published_mean"].notna().any():
                row[f"published {record['decoding']}"] = _published(record, setting)
        row["human"] = _cell(first["human"] * first["published_factor"], None, False, setting)
        rows.append(row)
    return pd.DataFrame(rows).fillna(setting.none)


def _is_closest(record: dict, rivals: pd.DataFrame) -> bool:
    """Say whether no other of the rows that are to be compared is closer to human."""
    aim = {"human": record["human"], "higher": float("inf"), "lower": 0.0}[record["better"]]
    if record["better"] == "higher":
        return record["mean"] == rivals["mean"].max()
    return abs(record["mean"] - aim) == (rivals["mean"] - aim).abs().min()


def _ours(record: dict, best: bool, setting: _Setting) -> str:
    factor = record["published_factor"]
    if record["n"] == 0 and pd.isna(record["note"]):  # not measured yet; what cannot be measured has a note
        return MISSING
    return _cell(record["mean"] * factor, record["sd"] * factor, best, setting)


def _published(record: dict, setting: _Setting) -> str:
    return _cell(record["published_mean"], record["published_sd"], False, setting)


def _cell(mean: float, sd: float | None, best: bool, setting: _Setting) -> str:
    if pd.isna(mean):
        return setting.none
    if sd is None or pd.isna(sd):
        return setting.marked(mean) if best else setting.plain(mean)
    return setting.spread(mean, sd, best=best)


def _label(metric: str) -> str:
    measure = MEASURES[metric]
    half = " / 2" if measure.published_factor == 0.5 else ""
    return f"{measure.label}{half} {ARROWS.get(measure.better, '')}".strip()


def _legend(table: pd.DataFrame, completed: Collection[str]) -> str:
    n = int(table.n.max())
    whole, raw = ([MEASURES[name].label for name in MEASURES if (name in completed) == has] for has in (True, False))
    parts = [
        f"Mean ± standard deviation over {n:,} samples; MAUVE and byte TV are of the whole set, ± the standard "
        "deviation over draws of whole windows, which repeat windows and so lower MAUVE and raise byte TV: the mean "
        "of the draws stands in the CSV beside the value of the set",
        "Intervals of the means stand in the CSV",
        "A prompt may end inside a word. "
        + (f"That part of the word is put before the continuation for {_listed(whole)}; " if whole else "")
        + f"{_listed(raw)} {'are' if len(raw) > 1 else 'is'} of the continuation alone",
        "Bold: closest to human (of the family, or of the truncated heads; by decoding: of the row). No other "
        "direction is good by itself, but MAUVE is 1 ↑ and byte TV 0 ↓ for the human texts themselves",
        f"Where there is a row `{SECOND}`, it is of other human texts: what lies no further from human than it does is "
        f"within what {n:,} samples can tell",
        "The thesis's script halves byte TV, so ours is halved here; the CSV has the true value. Repetition is the "
        "share of word bigrams that occur more than once, loops the share of samples that end in a phrase of two or "
        "more words three times in a row",
    ]
    differs = set(" ".join(table.published_differs.dropna()).split())
    names = DIFFERENCES | OF_SAMPLES
    if others := [names[name] for name in names if name in differs]:
        parts.append(f"The published values come from {' and '.join(others)}: compare trends, not levels")
    if "language_model" in differs and table[table.metric == "mauve"]["mean"].notna().any():
        parts.append(
            "The features in which MAUVE compares are not GPT-2 Large's but another language model's; a small one's "
            "know the last words and little else, and MAUVE then tells less"
        )
    parts += stand_ins(table)
    for (metric, note), own in table[table.note.notna()].groupby(["metric", "note"], sort=False):
        sets = [f"{row['model']} {row['decoding']}".strip() for row in own.to_dict("records")]
        whose = ", ".join(sets) if len(sets) <= 3 else f"{len(sets)} sets"
        parts.append(f"{MEASURES[str(metric)].label} ({whose}): {note}")
    return ". ".join(parts) + "."


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
