"""The story page: question, answer, verdicts, and chapters of charts, tables and figures."""

from oversmoothing.claims.story.chapters import of_studies
from oversmoothing.claims.story.page import write_story
from oversmoothing.jobs import Job, run


def main(job: Job) -> None:
    """Read the tables and figures; write the page."""
    write_story(job.input, job.output[0], of_studies(job.params.settings["studies"]))


if __name__ == "__main__":
    run(main)
