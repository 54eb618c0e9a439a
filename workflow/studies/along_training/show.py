"""The table along training and its figures."""

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.along_training import figure
from studies.along_training.table import along_training_page, along_training_table

TITLE = "Along training: loss, head, hidden states and oversmoothing, {by}."


def main(job: Job) -> None:
    """Read the measures and the spectra of each model; write the table and the figures in all formats."""
    models = job.params.settings["models"]
    measured, spectra = (
        {model["model"]: read_table(path).to_pandas() for model, path in zip(models, paths, strict=True)}
        for paths in (job.input.measures, job.input.spectra)
    )
    table = along_training_table(measured, models, job.params.settings["unit"])
    write_record(job.output, table, along_training_page(table, TITLE))
    table = read_record(job.output.csv)  # to draw the numbers that are written
    write_figure(figure.along(table), job.output.along)
    write_figure(figure.against_loss(table), job.output.against_loss)
    write_figure(figure.layers(table), job.output.layers)
    write_figure(figure.spectra(spectra, models), job.output.spectra)


if __name__ == "__main__":
    run(main)
