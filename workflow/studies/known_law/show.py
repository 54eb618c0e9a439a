"""Table and figure of what models show against a law that is known."""

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.known_law.figure import draw
from studies.known_law.table import MEASURES, known_law_page, known_law_table, named


def main(job: Job) -> None:
    """Read the scores of all models that learn a text; write the table and the figure in all formats."""
    settings = job.params.settings
    divided = pd.concat(means(path, *(name for name in MEASURES if name != "nsmd")) for path in job.input.forced)
    nsmd = pd.concat(means(path, "value") for path in job.input.nsmd).rename(columns={"value": "nsmd"})
    scores = divided.merge(nsmd, on=["text", "model", "truth"])
    table = known_law_table(scores, settings["learners"], settings["stand_ins"])
    write_record(job.output, table, known_law_page(table, settings["laws"]))
    write_figure(draw(table, settings["laws"]), [job.output.png, job.output.pdf, job.output.svg])


def means(path: str, *columns: str) -> pd.DataFrame:
    """Means over positions by truth, with the text and the model that the path names."""
    scores = read_table(path).select(["truth", *columns]).to_pandas()
    return named(path, scores.astype({"truth": str}).groupby("truth").mean().reset_index())


if __name__ == "__main__":
    run(main)
