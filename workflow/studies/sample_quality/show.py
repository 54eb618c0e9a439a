"""Sample quality beside human text and the thesis's numbers (Tables 5.3, 6.2, 6.3 and H.1), and Figure 5.1."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.sample_quality.figure import byte_frequencies, draw
from studies.sample_quality.table import (
    beside_human,
    differences,
    of_human,
    quality_page,
    rare_bytes,
    read_cells,
    read_with_gpt2_large,
    sets_of_models,
    summarise_quality,
)

TITLE = "Sample quality {by} and by decoding (Tables 5.3, 6.2, 6.3 and H.1)."


def main(job: Job) -> None:
    """Read the quality of all samples and of the human texts, and the family's samples; write table and figure."""
    settings = job.params.settings
    bootstrap = settings["resamples"], settings["seed"]
    summaries = {Path(path).stem: summarise_quality(path, *bootstrap) for path in job.input.quality}
    table = beside_human(
        summaries | of_human(summarise_quality(job.input.human, *bootstrap)),
        sets_of_models(settings["family"], settings["truths"], settings["svd"]),
        read_cells(job.input.published, job.input.published_svd),
        differences(settings["windows"], settings["completed"], read_with_gpt2_large(job.input.human)),
    )
    family = settings["family"]
    rare = rare_bytes(job.input.windows, job.input.second, job.input.samples, family)
    table = pd.concat([table, rare], ignore_index=True)
    write_record(job.output, table, quality_page(table, TITLE, settings["completed"]))
    frequencies = byte_frequencies(job.input.windows, job.input.samples, family)
    write_figure(draw(frequencies, family), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
