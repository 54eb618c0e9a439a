"""The story page: question, answer, verdicts, and chapters of charts, tables and figures."""

from typing import TYPE_CHECKING

from oversmoothing.jobs import run
from oversmoothing.story.page import write_story

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Read the tables and figures; write the page."""
    write_story(job.input, job.output[0])


if __name__ == "__main__":
    run(main)
