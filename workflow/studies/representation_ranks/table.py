"""Table 7.3: how many dimensions each representation uses, beside the thesis's values."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Cell, Page, Section, Value, by_model
from oversmoothing.tables.published import by_key, caveats, printed, read_published, that_matter
from oversmoothing.tables.record import facts, record
from oversmoothing.tables.story import legend

TITLE = "Effective rank of what the models represent, {by} (Table 7.3)."
COLUMNS = ["representation", "measure", "value", "n", "d"]
REPRESENTATIONS = {
    "logits": "logits",
    "probabilities": "probabilities",
    "post": "post-bottleneck",
    "pre": "pre-bottleneck",
    "head": "W",
    "reachable_head": "reachable W",
}
OF_POSITIONS = ("logits", "probabilities", "post", "pre")
PUBLISHED_MEASURE, DIMENSIONS = "effective_rank", "dimensions"


def main(job: Job) -> None:
    """Read the ranks of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    ranks = [read_table(path, COLUMNS).to_pandas().assign(model=Path(path).stem) for path in job.input.ranks]
    table = ranks_table(pd.concat(ranks), settings["models"], read_published(job.input.published))
    write_record(job.output, table, ranks_page(table, TITLE, settings["positions"], settings["threshold"]))


def ranks_table(ranks: pd.DataFrame, models: Sequence[Mapping[str, Any]], published: pd.DataFrame) -> pd.DataFrame:
    """Record of the ranks of each model's representations, beside the thesis's effective ranks.

    `ranks` has the columns of `measure.RANKS` and ``model``; `models` are rows of the plan (`plan.thesis.compared`).
    There is a row per measure, model and representation, in the order given, and of each representation its
    `DIMENSIONS`.
    """
    cells = by_key(published, "model", "representation")
    measured = ranks.set_index(["measure", "model", "representation"])
    rows, sizes = [], []
    for measure, model, representation in product(ranks.measure.unique(), models, REPRESENTATIONS):
        place = (measure, model["model"], representation)
        if place not in measured.index:
            continue
        value, n, d = measured.loc[place, ["value", "n", "d"]]
        keys = {**facts(model), "representation": representation, "unit": "dimensions"}
        key = (model["published_as"], representation) if measure == PUBLISHED_MEASURE else ()
        beside = printed(cells, key, that_matter(model["differs"]))
        rows.append({**keys, "measure": measure, "value": value, "n": n, **beside})
        if measure == PUBLISHED_MEASURE:
            sizes.append({**keys, "measure": DIMENSIONS, "value": d})
    return record(rows + sizes)


def ranks_page(table: pd.DataFrame, title: str, positions: int, threshold: float) -> Page:
    """Page with a section per measure and a row per model; `positions` is the number that the config asks for."""
    headings = {
        "effective_rank": "Effective rank: exp of the entropy of the singular values as shares of their sum",
        "above_threshold": f"Singular values above {100 * threshold:g} % of the largest",
        "numerical_rank": "Numerical rank: singular values above the roundoff of float32",
    }
    sections = [
        Section(headings[str(name)], _rows(part), notes=_on_published(part, table))
        for name, part in table[table.measure.isin(headings)].groupby("measure", sort=False)
    ]
    return Page(title, sections, _legend(table, positions))


def _rows(part: pd.DataFrame) -> list[dict[str, Cell]]:
    known = set(part.representation)
    beside = set(part.representation[part.published.notna()])
    decimals = 2 if part.measure.iloc[0] == "effective_rank" else 0
    rows = []
    for cells, of_model in by_model(part):
        by = of_model.set_index("representation")
        for name, label in REPRESENTATIONS.items():
            if name in known:
                cells[label] = Value(by.value.get(name), decimals=decimals)
            if name in beside:
                cells[f"published {label}"] = Value(by.published.get(name), decimals=decimals)
        rows.append(cells)
    return rows


def _legend(table: pd.DataFrame, positions: int) -> list[str]:
    drawn = int(table.n[table.representation.isin(OF_POSITIONS)].min())
    reachable = (table.representation == "reachable_head").any()
    return legend(__file__, "effective_rank", drawn=drawn, positions=positions, reachable=reachable)


def _on_published(part: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    beside = part[part.published.notna()]
    if not len(beside):
        return []
    reachable = table[table.representation == "reachable_head"]
    parts = ["The published values are over 1,024 prompts"]
    behind = beside[beside.model.isin(reachable.model) & (beside.published_model == beside["rank"].astype(str))]
    above = behind[behind.representation.isin(["logits", "post"]) & (behind.published > behind["rank"] - 1)]
    for row in above.drop_duplicates(["published_model", "representation"]).to_dict("records"):
        parts.append(
            f"The published {row['published']:.2f} of the {REPRESENTATIONS[row['representation']]} at rank "
            f"{row['rank']} is more than the r - 1 that a LayerNorm after the bottleneck allows; it probably carries "
            "rounding to bfloat16"
        )
    return parts + caveats(beside)


if __name__ == "__main__":
    run(main)
