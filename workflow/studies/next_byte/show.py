"""The table of each model's prediction of the byte after each prompt, and Figures 4.1 and 7.1 of each prompt."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.class_names import names_of
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.next_byte.figure import draw
from studies.next_byte.prompts import read_prompts
from studies.next_byte.table import by_model, next_byte_page, next_byte_table, read_distributions, read_scores

TITLE = "The {unit} after a prompt, by model (beside Figures 4.1 and 7.1)."
FORMATS = 3  # of a figure


def main(job: Job) -> None:
    """Read the prompts, the models' logits and their scores; write the table and the figures in all formats."""
    settings = job.params.settings
    names, prompts = settings["names"], read_prompts(job.input.windows)
    p = read_distributions({Path(path).stem: path for path in job.input.logits})
    scores = {(Path(path).parent.name, Path(path).stem): read_scores(path) for path in job.input.scores}
    classes = names_of(job.input.vocabulary)
    table = next_byte_table(names, [target for _, target in prompts], p, scores, settings["models"], classes)
    page = next_byte_page(table, TITLE.format(unit=classes.unit), [text for text, _ in prompts], classes)
    write_record(job.output, table, page)
    table = read_record(job.output.csv)  # to print the numbers that are written
    metrics = [name for name in METRICS if (table.measure == name).any()]
    for shown, paths in zip(settings["figures"], (job.output.family, job.output.truncated), strict=False):
        for i, (name, (prompt, target)) in enumerate(zip(names, prompts, strict=True)):
            of_prompt = by_model(table[table.prompt == name])[metrics]
            figure = draw(p[i], shown["models"], of_prompt, prompt, target, shown["title"], classes)
            write_figure(figure, paths[FORMATS * i : FORMATS * (i + 1)])


if __name__ == "__main__":
    run(main)
