"""The table along training and its figures: of models trained here, or of other people's."""

import logging

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.along_training import figure
from studies.along_training.table import along_training_page, along_training_table, doubles, others_page

logger = logging.getLogger(__name__)

TITLE = "Along training: loss, head, hidden states and oversmoothing, {by}."
OTHERS = "Other people's models: loss, head and hidden states, by revision."
FIGURES = {
    "courses": figure.courses,
    "against_loss": figure.against_loss,
    "layers": figure.layers,
    "forced": figure.forced,
}


def main(job: Job) -> None:
    """Read the measures of each model, or of each revision; write the table and the figures that the rule names."""
    models = job.params.settings["models"]
    measured = [read_table(path).to_pandas() for path in job.input.measures]
    table = along_training_table(measured, models, job.params.settings["unit"])
    for same in doubles(table):
        logger.warning("the same weights under several names: %s", same)
    page = others_page(table, OTHERS) if "revision" in models[0] else along_training_page(table, TITLE)
    write_record(job.output, table, page)
    table = read_record(job.output.csv)  # to draw the numbers that are written
    for name, draw in FIGURES.items():
        if paths := getattr(job.output, name, None):
            write_figure(draw(table), paths)
    if spectra := getattr(job.input, "spectra", None):
        by_model = {model["model"]: read_table(path).to_pandas() for model, path in zip(models, spectra, strict=True)}
        write_figure(figure.spectra(by_model, models), job.output.spectra)


if __name__ == "__main__":
    run(main)
