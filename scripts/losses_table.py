"""Table 3.1: validation loss and argmax accuracy of every trained model."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.losses import accuracy, losses_page, losses_table, token_losses
from oversmoothing.tables.published import read_published
from oversmoothing.training.history import lowest_loss

TITLE = "Validation loss and accuracy {by} (Table 3.1)."


def main(job: Job) -> None:
    """Read the histories and the logits; write the table as CSV, Markdown, HTML and LaTeX."""
    settings, unit = job.params.settings, job.params.settings["unit"]
    values: dict[str, dict] = {model["model"]: {} for model in settings["models"]}
    for path in job.input.histories:
        values[Path(path).parent.name]["validation_loss"] = lowest_loss(path)
    for path in job.input.logits:
        if unit == "token":
            values[Path(path).stem] |= token_losses(path, job.input.windows, settings["resamples"], settings["seed"])
        values[Path(path).stem]["accuracy"] = accuracy(path, settings["resamples"], settings["seed"])
    table = losses_table(values, settings["models"], read_published(job.input.published), unit)
    write_record(job.output, table, losses_page(table, TITLE, unit))


if __name__ == "__main__":
    run(main)
