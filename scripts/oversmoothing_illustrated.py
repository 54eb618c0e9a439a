"""Figure 1.1: what oversmoothing is, on the two models of the family that do it most and least."""

from pathlib import Path
from typing import TYPE_CHECKING

from oversmoothing.corpus.showcase import read_prompts
from oversmoothing.figures.illustration import extremes, illustration
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv
from oversmoothing.next_byte import read_distributions

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the first prompt, the family's logits and the table of oversmoothing; write the figure as PNG and SVG."""
    prompt, target = read_prompts(job.input.windows)[0]
    p = read_distributions({Path(path).stem: path for path in job.input.logits})[0]
    models = {model["model"]: model for model in job.params.settings["models"]}
    chosen = [models[name] for name in extremes(read_csv(job.input.table), list(models))]
    write_figure(illustration(p, chosen, prompt, target), job.output)


if __name__ == "__main__":
    run(main, snakemake)
