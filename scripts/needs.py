"""Print what a study needs: operations, GPU hours, disk space and memory."""

from oversmoothing.jobs import Job, run
from oversmoothing.run.needs import report


def main(job: Job) -> None:
    """Print the needs of `params.study`."""
    print(f"\n{report(job.params.study)}\n")


if __name__ == "__main__":
    run(main)
