"""What each model takes for the byte after a prompt, side by side (thesis Figures 1.1, 4.1 and 7.1).

The distributions come from the logits and the scores of the showcase windows; nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from oversmoothing.byte_names import SPACE, byte_name
from oversmoothing.jobs import UserError
from oversmoothing.layout import latex_text, number, write_latex_tables, write_page
from oversmoothing.metrics import softmax
from oversmoothing.samples.page import label, last_word, markdown, visible
from oversmoothing.store.parquet import read_table, vectors
from oversmoothing.tables import LABELS

DECODING = "pure"
OPEN_BOX = "\N{OPEN BOX}"  # a space that can be seen
LEGEND = (
    "p(right byte) is the probability that a model gives to the byte that really follows; its place is 1 where no byte "
    "is more probable. TTO, NSMD, TV and KL are means over the truths; TBAT needs none. Lower is better in all five. "
    "They are of a single byte: to compare models, take the tables over all windows"
)


def read_distributions(logits: Mapping[str, str | Path]) -> list[pd.DataFrame]:
    """Read what each model makes of each prompt.

    Parameters
    ----------
    logits : mapping of model to path
        Logits of the showcase windows.

    Returns
    -------
    list of DataFrame, shape (v, models)
        One per prompt; index ``byte``, one distribution a column.

    Raises
    ------
    UserError
        If a file is missing or damaged, or was made of other prompts than the first.
    """
    tables = {model: read_table(path, ["window", "target", "logits"]) for model, path in logits.items()}
    first = next(iter(tables.values()))
    for model, table in tables.items():
        if not table.select(["window", "target"]).equals(first.select(["window", "target"])):
            raise UserError(f"{logits[model]}: of other prompts than {next(iter(logits.values()))}; run again")
    p = {model: softmax(vectors(table["logits"].combine_chunks())) for model, table in tables.items()}
    return [
        pd.DataFrame({model: own[window] for model, own in p.items()}).rename_axis("byte")
        for window in range(len(first))
    ]


def read_scores(path: str | Path) -> pd.Series:
    """Read the scores of pure sampling by window: the mean over the truths, where the metric needs any."""
    table = read_table(path, ["window", "decoding", "value"])
    own = table.filter(pc.equal(table["decoding"].cast(pa.string()), DECODING)).to_pandas()
    return own.groupby("window").value.mean()


def next_byte_table(
    names: Sequence[str],
    targets: Sequence[int],
    distributions: Sequence[pd.DataFrame],
    scores: Mapping[tuple[str, str], pd.Series],
    models: Sequence[Mapping[str, Any]],
) -> pd.DataFrame:
    """Say how each model takes each prompt.

    Parameters
    ----------
    names : sequence of str
        Of the prompts.
    targets : sequence of int
        The right byte after each.
    distributions : sequence of DataFrame, shape (v, models)
        As `read_distributions` gives them.
    scores : mapping of metric and model to Series
        As `read_scores` gives them; a metric that a model has no score in is left out.
    models : sequence of mappings
        ``model``, ``kind``, ``rank``, ``seed`` of each, in the order wanted.

    Returns
    -------
    DataFrame
        One row per prompt and model: ``prompt`` (its name), ``model``, ``kind``, ``rank``, ``seed``, ``decoding``,
        ``next`` (the right byte by name), ``p_next`` (its probability), ``place`` (1 if no byte is more probable),
        ``top`` and ``p_top`` (the most probable byte), and a column per metric, empty where there is no score.
    """
    metrics = [metric for metric in LABELS if any(metric == known for known, _ in scores)]
    rows = []
    for window, (name, target, p) in enumerate(zip(names, targets, distributions, strict=True)):
        for model in models:
            own = p[model["model"]].to_numpy()
            top = int(own.argmax())
            found = {metric: scores.get((metric, model["model"])) for metric in metrics}
            rows.append(
                {
                    "prompt": name,
                    **{key: model[key] for key in ("model", "kind", "rank", "seed")},
                    "decoding": DECODING,
                    "next": byte_name(target),
                    "p_next": own[target],
                    "place": 1 + int((own > own[target]).sum()),
                    "top": byte_name(top),
                    "p_top": own[top],
                    **{metric: np.nan if values is None else values[window] for metric, values in found.items()},
                }
            )
    return pd.DataFrame(rows).astype({"rank": "Int64", "seed": "Int64"})


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str, prompts: Sequence[bytes]) -> None:
    """Write a section per prompt, a row per model."""
    sections = []
    for prompt, (_, part) in zip(prompts, table.groupby("prompt", sort=False), strict=True):
        cells = _cells(part, "-").map(lambda text: markdown(text.encode()))
        sections.append((f"“{markdown(prompt)}”: {markdown(part.next.iloc[0].encode())} follows", cells))
    write_page(paths, title, sections, f"{LEGEND}.")


def write_latex(table: pd.DataFrame, path: str | Path, title: str, prompts: Sequence[bytes]) -> None:
    """Write the same as LaTeX tables, one per prompt."""
    tables = []
    for prompt, (_, part) in zip(prompts, table.groupby("prompt", sort=False), strict=True):
        caption = f"{title} The prompt: “{visible(prompt)}”; {part.next.iloc[0]} follows. {LEGEND}."
        tables.append((_cells(part, "--").map(latex_text), caption))
    write_latex_tables(path, tables)


def completion(prompt: bytes, byte: int) -> str:
    """Write the last word of a prompt with a byte after it, as it can be seen: water, wate␣, wate⟨C3⟩."""
    return visible(last_word(prompt)) + (OPEN_BOX if byte == SPACE else visible(bytes([byte])))


def _cells(part: pd.DataFrame, none: str) -> pd.DataFrame:
    rows = []
    for row in part.to_dict("records"):
        cells = {
            "model": label({**row, "rank": None if pd.isna(row["rank"]) else row["rank"]}),
            "p(right byte)": number(row["p_next"]),
            "place": str(row["place"]),
            "most probable": f"{row['top']} ({number(row['p_top'])})",
        }
        for metric in LABELS:
            if metric in part.columns:
                cells[LABELS[metric]] = none if pd.isna(row[metric]) else number(row[metric])
        rows.append(cells)
    return pd.DataFrame(rows)
