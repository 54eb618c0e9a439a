"""The story page: question, answer, verdicts, and chapters of charts, tables and figures."""

from oversmoothing.claims.story.chapters import of_packages
from oversmoothing.claims.story.page import write_story
from oversmoothing.jobs import Job, run


def main(job: Job) -> None:
    """Read the tables and figures; write the page."""
    chapters = of_packages(f"studies.{name}" for name in job.params.settings["studies"])
    write_story(job.input, job.output[0], chapters)


if __name__ == "__main__":
    run(main)
