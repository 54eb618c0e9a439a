"""Print what a study needs: operations, GPU hours, disk space and memory."""

from typing import TYPE_CHECKING

from oversmoothing.jobs import run
from oversmoothing.needs import report

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Print the needs of `params.study`."""
    print(f"\n{report(job.params.study)}\n")


if __name__ == "__main__":
    run(main)
