"""Print what a study needs: operations, GPU hours, disk, memory."""

from typing import TYPE_CHECKING

from oversmoothing.jobs import run
from oversmoothing.needs import report

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read `params.study`; print."""
    print(f"\n{report(job.params.study)}\n")


if __name__ == "__main__":
    run(main, snakemake)
