"""Table 3.1: validation loss and argmax accuracy of every trained model."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import summarise
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.losses import byte_losses, losses_page, losses_table, predictions, token_losses
from oversmoothing.tables.published import read_published
from oversmoothing.training.history import lowest_loss

TITLE = "Validation loss and accuracy {by} (Table 3.1)."


def main(job: Job) -> None:
    """Read the histories and the logits; write the table as CSV, Markdown, HTML and LaTeX."""
    settings, unit = job.params.settings, job.params.settings["unit"]
    resamples, seed = settings["resamples"], settings["seed"]
    values: dict[str, dict] = {model["model"]: {} for model in settings["models"]}
    for path in job.input.histories:
        values[Path(path).parent.name]["validation_loss"] = lowest_loss(path)
    for path in job.input.logits:
        predicted, of_model = predictions(path), values[Path(path).stem]
        if unit == "token":
            of_model |= token_losses(predicted.losses, job.input.windows, resamples, seed)
        elif settings.get("on_windows"):
            of_model |= byte_losses(predicted.losses, resamples, seed)
        of_model["accuracy"] = summarise(predicted.right, resamples, seed)
    table = losses_table(values, settings["models"], read_published(job.input.published), unit)
    write_record(job.output, table, losses_page(table, TITLE, unit))


if __name__ == "__main__":
    run(main)
