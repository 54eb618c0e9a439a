"""Each model's prediction of the byte after each showcase prompt, as a table."""

from pathlib import Path

from oversmoothing.corpus.showcase import read_prompts
from oversmoothing.jobs import Job, run
from oversmoothing.next_byte import next_byte_page, next_byte_table, read_distributions, read_scores
from oversmoothing.page_formats import write_table
from oversmoothing.samples.page import namer

TITLE = "The {unit} after a prompt, by model (beside Figures 4.1 and 7.1)."


def main(job: Job) -> None:
    """Read the prompts, the models' logits and their scores; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    prompts = read_prompts(job.input.windows)
    logits = {Path(path).stem: path for path in job.input.logits}
    scores = {(Path(path).parent.name, Path(path).stem): read_scores(path) for path in job.input.scores}
    targets = [target for _, target in prompts]
    vocabulary = getattr(job.input, "vocabulary", None)
    p, texts, unit = read_distributions(logits), [prompt for prompt, _ in prompts], "token" if vocabulary else "byte"
    table = next_byte_table(settings["names"], targets, p, scores, settings["models"], namer(vocabulary))
    write_table(job.output, table, next_byte_page(table, TITLE.format(unit=unit), texts, unit))


if __name__ == "__main__":
    run(main)
