"""Table and figures of the frontiers of decoding methods."""

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import facts, record
from studies.cut_frontier.figure import draw
from studies.cut_frontier.page import frontier_page
from studies.cut_frontier.table import Frontiers


def main(job: Job) -> None:
    """Read the sums of all models; write the table in all formats, and a figure of each temperature."""
    settings = job.params.settings
    models = settings["models"]
    drawn = settings["drawn"] or models[len(models) // 2]["model"]
    rows, points = [], {}
    for model, path in zip(models, job.input, strict=True):
        sums = read_table(path).to_pandas()
        more = {name: model[name] for name in ("law", "sequences") if name in model}
        for truth, part in sums.groupby("truth", sort=False, observed=True):
            of_pair = Frontiers(part, settings["reference"], settings["resamples"], settings["seed"])
            rows += [{**facts(model), **more, "truth": truth, **row} for row in of_pair.rows()]
            if model["model"] == drawn:
                points[f"{drawn} against {truth}"] = of_pair.points()
    table = record(pd.DataFrame(rows))
    write_record(job.output, table, frontier_page(table, settings["reference"]))
    title, drawn_points = next(reversed(points.items()))
    for i, temperature in enumerate(settings["temperatures"]):
        figure = draw(drawn_points[drawn_points.temperature == temperature], title, settings["reference"])
        write_figure(figure, [job.output[kind][i] for kind in ("png", "pdf", "svg")])


if __name__ == "__main__":
    run(main)
