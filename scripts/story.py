"""The story page: question, answer, verdicts, and chapters of charts, tables and figures."""

from typing import TYPE_CHECKING

from oversmoothing.jobs import import_by_name, run
from oversmoothing.story.page import write_story

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Read the tables and figures; write the page."""
    names = job.params.settings["studies"]
    write_story(job.input, job.output[0], [import_by_name(f"studies.{name}.chapter").CHAPTER for name in names])


if __name__ == "__main__":
    run(main)
