"""Table and figure of what the law of the ladder predicted of larger models, and what came."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.layout import read_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Page, Section, Value
from oversmoothing.tables.record import read_record, record
from oversmoothing.tables.story import legend
from studies.forced_part.added import LESS
from studies.leak_at_equal_loss.table import LOSS as VALIDATION
from studies.leak_at_equal_loss.table import ON_WINDOWS
from studies.size_ladder.elsewhere import THESIS, of_ladder, of_thesis, of_workstation
from studies.size_ladder.figure import draw
from studies.size_ladder.predict import LAW, PREDICTED
from studies.size_ladder.table import ADDED, BEST, FORCED, REST, TRAINED

TITLE = "What the law of the ladder predicted of larger models, and what came."
CAME = "_came"  # at the end of a measure: what was measured of what the measure predicts
LABELS = {
    ON_WINDOWS: "loss on the windows",
    VALIDATION: "validation loss",
    **{name: METRICS[name].label for name in ("tto", "tv", "kl")},
    ADDED: "KL, where parts are measured",
    BEST: "of it, by the best head found",
    TRAINED: "of it, by the trained head",
    FORCED: "of it, behind its LayerNorm",
    REST: "of it, the rest",
}
KEYS = ["place", "rank", "truth", "measure"]


def main(job: Job) -> None:
    """Read predictions and what came; write the table and the figure in all formats."""
    settings = job.params.settings
    predicted, truth = read_table(job.input.predictions).to_pandas(), settings["truth"]
    losses, leaks = (read_csv(path, dtype={"model": str}) for path in (job.input.losses, job.input.leaks))
    ladder = read_record(job.input.ladder)
    held_out = read_record(job.input.held_out[0]) if job.input.held_out else ladder.iloc[:0]
    came = [
        *of_ladder(held_out, settings["places"], PREDICTED),
        *of_workstation(read_record(job.input.workstation)),
        *of_thesis(losses, leaks, truth),
    ]
    table = outcomes_table(predicted, came, settings["unit"])
    write_record(job.output, table, outcomes_page(table, int(settings["resamples"])))
    figure = draw(ladder, held_out, predicted, truth)
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def outcomes_table(predicted: pd.DataFrame, came: Sequence[dict[str, Any]], unit: str) -> pd.DataFrame:
    """Return the record of coefficients, predictions, and what came of those that can be looked up.

    ``arm`` is the place, or `LAW` of coefficients, whose measures end in the coefficient's name; what came ends in
    `CAME`.
    """
    rows = []
    found = {tuple(_key(row[key]) for key in KEYS): row["value"] for row in came}
    for row in predicted.to_dict("records"):
        known = {"arm": row["place"], "rank": row["rank"], "truth": _key(row["truth"]), "less": LESS}
        at = {name: row[name] if pd.notna(row[name]) else None for name in ("weights", "bytes", "note")}
        coefficient = _key(row["coefficient"])
        name = row["measure"] if coefficient is None else f"{row['measure']}_{coefficient}"
        units = {"unit": _unit(row["measure"], unit) if coefficient in (None, "floor", "scale") else "1"}
        rows.append({**known, **at, **units, "measure": name, **{key: row[key] for key in ("value", "low", "high")}})
        key = tuple(_key(row[name]) for name in KEYS)
        if key in found and coefficient is None:
            rows.append({**known, **at, **units, "measure": row["measure"] + CAME, "value": found[key], "note": None})
    return record(rows)


def outcomes_page(table: pd.DataFrame, draws: int) -> Page:
    """Return the page: for each place, each prediction beside what came; then the exponents."""
    sections = []
    for place, own in table[table.arm != LAW].groupby("arm", sort=False):
        values = {_at(row): row for row in own.to_dict("records")}
        rows = [
            {
                "what a rank adds": LABELS[row["measure"]],
                "rank": str(row["rank"]),
                "truth": _key(row["truth"]),
                "predicted": Value(row["value"], None, row["low"], row["high"]),
                "came": Value(values[then]["value"]),
                "in the interval": inside(row, values[then]["value"]),
            }
            for (measure, *key), row in values.items()
            if (then := (f"{measure}{CAME}", *key)) in values
        ]
        sections.append(Section(f"Models of `{place}`", rows))
    law = {_at(row): row for row in table[table.arm == LAW].to_dict("records")}
    of_law = [
        {
            "what a rank adds": LABELS[measure],
            "rank": str(rank),
            "truth": truth,
            **{
                words: Value(*(law[f"{measure}_{name}", rank, truth][key] for key in ("value", "sd", "low", "high")))
                for words, name in COLUMNS.items()
            },
        }
        for measure in PREDICTED
        for (name, rank, truth) in law
        if name == f"{measure}_floor"
    ]
    sections.append(Section("The law: y = floor + scale (N / N0)^a (D / D0)^b", of_law))
    words = legend(__file__, "scale_predictions", draws=draws)
    return Page(TITLE, [section for section in sections if section.rows], words)


COLUMNS = {"floor": "floor", "scale": "scale", "a": "of_size", "b": "of_text", "error of log y": "scatter"}


def counted(place: str, measure: str) -> bool:
    """Return whether a prediction counts when hits are: of loss, TTO and KL, as the others say much the same again."""
    return measure in (VALIDATION if place == THESIS else ON_WINDOWS, "tto", "kl")


def inside(row: dict[str, Any], came: float) -> str:
    """Return whether what came lies in the interval of a prediction; "-" where there is none."""
    if pd.isna(row["low"]):
        return "-"
    return "yes" if row["low"] <= came <= row["high"] else "no"


def _at(row: dict[str, Any]) -> tuple[str, int, str | None]:
    return row["measure"], int(row["rank"]), _key(row["truth"])


def _key(value: Any) -> Any:
    return None if pd.isna(value) else value


def _unit(measure: str, unit: str) -> str:
    if measure in (ON_WINDOWS, VALIDATION):
        return f"nats per {unit}"
    return METRICS[measure].unit if measure in METRICS else "nats"


if __name__ == "__main__":
    run(main)
