"""Samples of every model under every decoding beside the human text (Tables 5.1, 5.2 and G.1 to G.9)."""

from oversmoothing.jobs import Job, run
from oversmoothing.tables.samples import sample_table, write_samples


def main(job: Job) -> None:
    """Read the samples of the windows in `params.settings`; write them as CSV, Markdown and a web page."""
    settings = job.params.settings
    table = sample_table(job.input.windows, job.input.samples, settings["models"], settings["show"])
    write_samples(job.output, table, settings["title"])


if __name__ == "__main__":
    run(main)
