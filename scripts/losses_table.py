"""Table 3.1: validation loss and argmax accuracy of every trained model."""

from pathlib import Path
from typing import TYPE_CHECKING

from oversmoothing.jobs import run
from oversmoothing.layout import read_csv, write_csv
from oversmoothing.losses import accuracy, losses_table, validation_loss, write_latex, write_pages

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "Validation loss and accuracy by rank of what enters the LM head (Table 3.1)."


def main(job: "Snakemake") -> None:
    """Read the histories and the logits; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    missing = settings.get("missing", {"histories": [], "logits": []})
    values: dict[str, dict] = {model["model"]: {} for model in settings["models"]}
    for path in job.input.histories:
        values[Path(path).parent.name]["validation_loss"] = validation_loss(path)
    for path in missing["histories"]:
        values[Path(path).parent.name]["validation_loss"] = float("nan")
    for path in job.input.logits:
        values[Path(path).stem]["accuracy"] = accuracy(path, settings["resamples"], settings["seed"])
    for path in missing["logits"]:
        values[Path(path).stem]["accuracy"] = float("nan")
    published = read_csv(job.input.published, dtype={"model": str})
    table = losses_table(values, settings["models"], published)
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], TITLE)
    write_latex(table, job.output.latex, TITLE)


if __name__ == "__main__":
    run(main, snakemake)
