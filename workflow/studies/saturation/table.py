"""The table and the figure of the fitted law of losses, and of how far above it each model ends."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Cell, Page, Section, Value, by_model, valued
from oversmoothing.tables.record import facts, record
from oversmoothing.tables.story import legend
from studies.saturation.figure import draw
from studies.saturation.law import ALPHAS, leaves

TITLE = "Saturation: how far above the law of losses each model ends."
NEVER, ALWAYS = "never", "above it from the first loss that counts"


def main(job: Job) -> None:
    """Read the law and the points; write the table and the figure in all formats."""
    models, truths = job.params.settings["models"], job.params.settings["truths"]
    law, points = (read_table(path).to_pandas() for path in (job.input.law, job.input.points))
    table = saturation_table(law, points, models)
    write_record(job.output, table, saturation_page(table, TITLE))
    write_figure(draw(law, points, models, truths), [job.output.png, job.output.pdf, job.output.svg])


def saturation_table(law: pd.DataFrame, points: pd.DataFrame, models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the record of the parameters of the law, and of how far each model's final and lowest loss is from it.

    `law` and `points` have the schemas `measure.LAW` and `measure.POINTS`. Rows of the law are without a model. A row
    that cannot be computed has a note in place of a value.
    """
    rows = [
        {"measure": row.parameter, "value": row.value, "low": row.low, "high": row.high, "note": row.note or None}
        for row in law.itertuples()
    ]
    for model in models:
        own = points[points.model == model["model"]]
        rows += [{**facts(model), **row} for row in _rows_of(own, str(law.note.iloc[0]))]
    return record(rows)


def saturation_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with the parameters of the law and a row per model."""
    law = [
        {"number": row.measure, "value": valued(row), "note": row.note if pd.notna(row.note) else None}
        for _, row in table[table.model.isna()].iterrows()
    ]
    return Page(title, [Section("The law", law), Section("The models", _model_rows(table))], _legend(table))


def _rows_of(points: pd.DataFrame, first_note: str) -> list[dict[str, Any]]:
    """Return rows of what was measured of one model, and of what the law says at the end of its training."""
    end, unit = points.iloc[-1], str(points.unit.iloc[0])
    loss_unit = f"nats per {unit.removesuffix('s')}"
    beside: list[dict[str, Any]] = [
        {"measure": "extrapolated", "value": end.extrapolated, "low": end.low, "high": end.high, "unit": loss_unit},
        {"measure": "above_last", **_percent_above(end.loss, end), "unit": "%"},
        {"measure": "above_best", **_percent_above(points.loss.min(), end), "unit": "%"},
        {"measure": "leaves_at", **_leaving(points[points.compared]), "unit": unit},
    ]
    if points.extrapolated.isna().all():  # nothing is fitted, and the law's first note says why
        beside = [{**row, "note": first_note} for row in beside]
    return [
        {"measure": "fitted", "value": float(end.fitted)},
        {"measure": "parameters", "value": end.parameters, "unit": "weights"},
        {"measure": "seen", "value": end.seen, "unit": unit},
        {"measure": "loss_last", "value": end.loss, "unit": loss_unit},
        {"measure": "loss_best", "value": points.loss.min(), "unit": loss_unit},
        *beside,
    ]


def _percent_above(loss: float, law: pd.Series) -> dict[str, float]:
    """Return columns of how far a loss is above the law, in %.

    ``low`` is above the upper end of its band, and ``high`` above the lower.
    """
    ends = {"value": law.extrapolated, "low": law.high, "high": law.low}
    return {name: 100 * (loss / end - 1) for name, end in ends.items()}


def _leaving(points: pd.DataFrame) -> dict[str, Any]:
    """Return columns of how much text a model had seen where it leaves the law."""
    first = leaves(points.loss.to_numpy(), points.high.to_numpy())
    if first is None:
        return {"value": None, "note": NEVER}
    return {"value": float(points.seen.iloc[first]), "note": ALWAYS if first == 0 else None}


def _model_rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    rows = []
    for cells, of_model in by_model(table):
        name, by = cells.pop("rank"), of_model.set_index("measure")
        unit = by.unit["leaves_at"]
        rows.append(
            {
                "model": f"rank {name}" if pd.notna(by["rank"].iloc[0]) else name,
                **cells,
                "fitted": "yes" if by.value["fitted"] else "no",
                "N": Value(by.value["parameters"], decimals=0),
                f"T ({unit})": Value(by.value["seen"], decimals=0),
                "loss at the end ↓": Value(by.value["loss_last"]),
                "the law there": valued(by.loc["extrapolated"]),
                "above it (%) ↓": valued(by.loc["above_last"], decimals=1),
                "lowest loss ↓": Value(by.value["loss_best"]),
                "above the law (%) ↓": valued(by.loc["above_best"], decimals=1),
                f"leaves the law at ({unit})": _left(by.loc["leaves_at"]),
            }
        )
    return rows


def _left(row: pd.Series) -> Cell:
    if pd.isna(row.value) and row.note == NEVER:
        return NEVER
    return Value(row.value, decimals=0, note="(the first)" if row.note == ALWAYS else "")


def _legend(table: pd.DataFrame) -> list[str]:
    notes = table.note[table.model.isna()]
    no_fit = notes.iloc[0] if notes.str.startswith("no fit").any() else None
    return legend(
        __file__,
        "saturation",
        unit=table.unit[table.measure == "leaves_at"].iloc[0],
        no_fit=no_fit,
        two_sizes=notes.str.contains("two sizes").any(),
        alphas=[f"{alpha:g}" for alpha in ALPHAS],
        ranks=table["rank"].notna().any(),
    )


if __name__ == "__main__":
    run(main)
