"""Sample quality beside human text and the thesis's numbers (Tables 5.3, 6.2, 6.3 and H.1)."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.page_formats import write_table
from oversmoothing.quality.summaries import (
    HUMAN,
    SECOND,
    beside_human,
    read_cells,
    read_with_gpt2_large,
    sets_of_models,
    summarise_quality,
)
from oversmoothing.quality.table import quality_page

TITLE = "Sample quality {by} and by decoding (Tables 5.3, 6.2, 6.3 and H.1)."


def main(job: Job) -> None:
    """Read the quality of all samples and of the human texts; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    summaries = []
    for path in job.input.quality:
        rows = summarise_quality(path, settings["resamples"], settings["seed"])
        summaries += [{"model": Path(path).stem, **row} for row in rows]
    for row in summarise_quality(job.input.human, settings["resamples"], settings["seed"]):
        summaries.append({**row, "model": {"first": HUMAN, "second": SECOND}[row["decoding"]], "decoding": ""})
    sets = sets_of_models(settings["family"], settings["truths"], settings["svd"], settings.get("unit", "byte"))
    table = beside_human(
        summaries,
        sets,
        read_cells(job.input.published, job.input.published_svd),
        read_with_gpt2_large(job.input.human),
        settings["windows"],
        settings["completed"],
    )
    write_table(job.output, table, quality_page(table, TITLE, settings["completed"]))


if __name__ == "__main__":
    run(main)
