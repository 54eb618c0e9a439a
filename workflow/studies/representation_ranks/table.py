"""Table 7.3: how many dimensions each representation uses, beside the thesis's values."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.measures.entries.ranks import MEASURE
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import MODEL, PUBLISHED, Cell, Page, Section, pivot
from oversmoothing.tables.published import by_key, caveats, printed, read_published, that_matter
from oversmoothing.tables.record import facts, record
from oversmoothing.tables.story import legend

TITLE = "Effective rank of what the models represent, {by} (Table 7.3)."
REPRESENTATIONS = {
    "logits": "logits",
    "probabilities": "probabilities",
    "post": "post-bottleneck",
    "pre": "pre-bottleneck",
    "head": "W",
    "reachable_head": "reachable W",
}
OF_POSITIONS = ("logits", "probabilities", "post", "pre")
PUBLISHED_MEASURE = "effective_rank"
OURS = MEASURE.statistics


def main(job: Job) -> None:
    """Read the ranks of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    ranks = [read_table(path).to_pandas().assign(model=Path(path).stem) for path in job.input.ranks]
    table = ranks_table(pd.concat(ranks), settings["models"], read_published(job.input.published))
    write_record(job.output, table, ranks_page(table, TITLE, settings["positions"]))


def ranks_table(ranks: pd.DataFrame, models: Sequence[Mapping[str, Any]], published: pd.DataFrame) -> pd.DataFrame:
    """Return the record of the ranks of each model's representations, beside the thesis's effective ranks.

    `ranks` has the columns of the measure and ``model``; `models` are rows of the plan (`plan.thesis.compared`).
    There is a row per measure, model and representation, in the order given.
    """
    cells = by_key(published, "model", "representation")
    measured = ranks.set_index(["measure", "model", "representation"])
    rows = []
    for measure, model, representation in product(ranks.measure.unique(), models, REPRESENTATIONS):
        place = (measure, model["model"], representation)
        if place in measured.index:
            keys = {**facts(model), "measure": measure, "representation": representation, "unit": OURS[measure].unit}
            key = (model["published_as"], representation) if measure == PUBLISHED_MEASURE else ()
            beside = printed(cells, key, that_matter(model["differs"]))
            rows.append({**keys, **measured.loc[place, ["value", "n"]], **beside})
    return record(rows)


def ranks_page(table: pd.DataFrame, title: str, positions: int) -> Page:
    """Return the page with a section per measure and a row per model.

    `positions` is the number that the config asks for.
    """
    sections = [
        Section(OURS[str(name)].label, _rows(part), notes=_on_published(part, table))
        for name, part in table[table.measure.isin(OURS)].groupby("measure", sort=False)
    ]
    return Page(title, sections, _legend(table, positions))


def _rows(part: pd.DataFrame) -> list[dict[str, Cell]]:
    beside = part.assign(value=part.published, less=PUBLISHED).dropna(subset="value")
    columns: dict[str, dict[str, Any]] = {}
    for name, label in REPRESENTATIONS.items():
        columns[label] = {"representation": name, "less": None}
        columns[f"{PUBLISHED} {label}"] = {"representation": name, "less": PUBLISHED}
    return pivot(pd.concat([part, beside]), [MODEL], columns, OURS[part.measure.iloc[0]].decimals)


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
