"""Page of sample quality: Tables 5.3, 6.2, 6.3 and H.1, with the values closest to human marked."""

from collections.abc import Collection

import pandas as pd

from oversmoothing.page import AIMS, Cell, Page, Section, Value, labelled, model_cells
from oversmoothing.published import caveats, listed
from studies.sample_quality.metrics import MEASURES
from studies.sample_quality.table import HUMAN, SECOND

PURE = "pure"
HEADINGS = {
    "pure": "Pure sampling (Table 5.3)",
    "decodings": "By decoding (Tables 6.2 and 6.3)",
    "svd": "Truncated heads, pure sampling (Table H.1)",
}


def quality_page(table: pd.DataFrame, title: str, completed: Collection[str]) -> Page:
    """Page in the thesis's three layouts: pure sampling, by decoding, truncated heads.

    Parameters
    ----------
    table : DataFrame
        See `table.beside_human`.
    title : str
    completed : collection of str
        Metrics that include the partial last word of the prompt.
    """
    human = table[table.kind == "human"]
    pure = table[(table.decoding == PURE) & table.kind.isin(["family", "truth"])]
    sections = [Section(HEADINGS["pure"], _by_metric(pd.concat([pure, human]), "family"))]
    by_decoding = table[table.kind.isin(["family", "truth"])]
    if len(by_decoding):
        sections.append(Section(HEADINGS["decodings"], _by_decoding(by_decoding)))
    svd = table[(table.kind == "svd") & (table.decoding == PURE)]
    if len(svd):
        sections.append(Section(HEADINGS["svd"], _by_metric(pd.concat([svd, human[human.model == HUMAN]]), "svd")))
    return Page(title, sections, _legend(table, completed))


def _by_metric(part: pd.DataFrame, candidates: str) -> list[dict[str, Cell]]:
    """One row per model, and a column of ours and one published per metric; the best of the `candidates` is marked."""
    several_seeds = part.seed.nunique() > 1
    rows = []
    for _, own in part.groupby("model", sort=False):
        row = model_cells(own.iloc[0].to_dict(), several_seeds)
        for record in own.to_dict("records"):
            rivals = record["metric"] if record["kind"] == candidates else ""
            row[_label(record["metric"])] = _ours(record, rivals)
            if part.loc[part.metric == record["metric"], "published_mean"].notna().any():
                row[f"published {MEASURES[record['metric']].label}"] = _published(record)
        rows.append(row)
    return rows


def _by_decoding(part: pd.DataFrame) -> list[dict[str, Cell]]:
    """One row per model and metric, and a column of ours and one published per decoding; the best per row is marked."""
    several_seeds = part.seed.nunique() > 1
    rows = []
    for (_, metric), own in part.groupby(["model", "metric"], sort=False):
        first = own.iloc[0].to_dict()
        row = model_cells(first, several_seeds) | {"metric": _label(str(metric))}
        for record in own.to_dict("records"):
            row[record["decoding"]] = _ours(record, rivals=f"{first['model']} {metric}")
            if part.loc[part.decoding == record["decoding"], "published_mean"].notna().any():
                row[f"published {record['decoding']}"] = _published(record)
        row["human"] = Value(first["human"] * first["published_factor"])
        rows.append(row)
    return rows


def _ours(record: dict, rivals: str) -> Value:
    factor = record["published_factor"]
    aim = (AIMS | {"human": record["human"] * factor})[record["better"]]
    return Value(record["mean"] * factor, record["sd"] * factor, rivals=rivals, aim=aim)


def _published(record: dict) -> Value:
    return Value(record["published_mean"], record["published_sd"])


def _label(metric: str) -> str:
    measure = MEASURES[metric]
    half = " / 2" if measure.published_factor == 0.5 else ""
    return labelled(f"{measure.label}{half}", measure.better)


def _legend(table: pd.DataFrame, completed: Collection[str]) -> list[str]:
    n = int(table.n.max())
    whole, raw = ([MEASURES[name].label for name in MEASURES if (name in completed) == has] for has in (True, False))
    parts = [
        f"Mean ± standard deviation over {n:,} samples; MAUVE and byte TV are of the whole set, ± the standard "
        "deviation over draws of whole windows, which repeat windows and so lower MAUVE and raise byte TV: the mean "
        "of the draws stands in the CSV beside the value of the set",
        "Intervals of the means stand in the CSV",
        "A prompt may end inside a word. "
        + (f"That part of the word is put before the continuation for {listed(whole)}; " if whole else "")
        + f"{listed(raw)} {'are' if len(raw) > 1 else 'is'} of the continuation alone",
        "Bold: closest to human (of the family, or of the truncated heads; by decoding: of the row). No other "
        "direction is good by itself, but MAUVE is 1 ↑ and byte TV 0 ↓ for the human texts themselves",
        f"Where there is a row `{SECOND}`, it is of other human texts: what lies no further from human than it does is "
        f"within what {n:,} samples can tell",
        "The thesis's script halves byte TV, so ours is halved here; the CSV has the true value. Repetition is the "
        "share of word bigrams that occur more than once, loops the share of samples that end in a phrase of two or "
        "more words three times in a row",
    ]
    parts += caveats(table)
    differs = set(" ".join(table.published_differs.dropna()).split())
    if "language_model" in differs and table[table.metric == "mauve"]["mean"].notna().any():
        parts.append(
            "The features in which MAUVE compares are not GPT-2 Large's but another language model's; a small one's "
            "know the last words and little else, and MAUVE then tells less"
        )
    for (metric, note), own in table[table.note.notna()].groupby(["metric", "note"], sort=False):
        sets = [f"{row['model']} {row['decoding']}".strip() for row in own.to_dict("records")]
        whose = ", ".join(sets) if len(sets) <= 3 else f"{len(sets)} sets"
        parts.append(f"{MEASURES[str(metric)].label} ({whose}): {note}")
    return parts
