"""Table and figures of the frontiers of decoding methods."""

from collections.abc import Iterable

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import facts, record
from studies.cut_frontier.figure import draw
from studies.cut_frontier.table import Frontiers, frontier_page


def main(job: Job) -> None:
    """Read the sums of all models; write the table in all formats, and the figures."""
    settings = job.params.settings
    rows, points = [], {}
    for model, path in zip(settings["models"], job.input, strict=True):
        sums = read_table(path).to_pandas()
        keys = {**facts(model), **{name: model[name] for name in ("law", "sequences") if name in model}}
        for truth, part in sums.groupby("truth", sort=False, observed=True):
            of_pair = Frontiers(part, settings["reference"], settings["resamples"], settings["seed"])
            rows += [{**keys, "truth": truth, **row} for row in of_pair.rows()]
            points[model.get("law"), model["model"], str(truth)] = of_pair.points()
    table = record(pd.DataFrame(rows))
    write_record(job.output, table, frontier_page(table, settings["reference"]))
    for i, of in enumerate(settings["figures"]):
        model, truth = shown(points, of["law"], settings["drawn"])
        at = points[of["law"], model, truth]
        title = f"{model} against {'the law ' + of['law'] if of['law'] else truth}"
        drawn = draw(at[at.temperature == of["temperature"]], title, settings["reference"])
        write_figure(drawn, [job.output[kind][i] for kind in ("png", "pdf", "svg")])


def shown(pairs: Iterable[tuple[str | None, str, str]], law: str | None, model: str | None) -> tuple[str, str]:
    """Choose a model and a truth to draw, of those with that law: the model asked for, or the one in the middle."""
    of_law = [(name, truth) for of, name, truth in pairs if of == law]
    names = list(dict.fromkeys(name for name, _ in of_law))
    asked = model if model in names else names[len(names) // 2]
    return next((name, truth) for name, truth in of_law if name == asked)


if __name__ == "__main__":
    run(main)
