"""The story page: question, answer, verdicts, and chapters of charts, tables and figures."""

from oversmoothing.claims.story.page import write_story
from oversmoothing.jobs import Job, import_by_name, run


def main(job: Job) -> None:
    """Read the tables and figures; write the page."""
    names = job.params.settings["studies"]
    write_story(job.input, job.output[0], [import_by_name(f"studies.{name}.chapter").CHAPTER for name in names])


if __name__ == "__main__":
    run(main)
