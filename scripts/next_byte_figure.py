"""Figures 4.1 and 7.1: what each model takes for the byte after a prompt."""

from pathlib import Path
from typing import TYPE_CHECKING

from oversmoothing.corpus.showcase import read_prompts
from oversmoothing.figures.next_byte import SHORT, next_byte_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv
from oversmoothing.next_byte import read_distributions

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read a prompt, the models' logits and the table of their scores; write the figure as PNG and SVG."""
    settings, window = job.params.settings, job.params.window
    prompt, target = read_prompts(job.input.windows)[window]
    p = read_distributions({Path(path).stem: path for path in job.input.logits})[window]
    table = read_csv(job.input.table)
    scores = table[table.prompt == job.wildcards.prompt].set_index("model")[list(SHORT)]
    write_figure(next_byte_figure(p, settings["models"], scores, prompt, target, settings["title"]), job.output)


if __name__ == "__main__":
    run(main, snakemake)
