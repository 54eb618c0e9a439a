"""Table I.1: what each metric costs, and TBAT as the thesis computed it beside TBAT as computed here."""

from typing import TYPE_CHECKING

import pandas as pd
from tqdm import tqdm

from oversmoothing.compiled import use_threads
from oversmoothing.costs import (
    cost_table,
    measure,
    read_positions,
    write_latex,
    write_pages,
)
from oversmoothing.jobs import run
from oversmoothing.layout import write_csv
from oversmoothing.positions import draw_rows
from oversmoothing.spectra import read_head
from oversmoothing.tables import read_published

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "What a metric costs, by rank of what enters the LM head (Table I.1)."


def main(job: "Snakemake") -> None:
    """Read heads and a few logits; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    use_threads(1)
    rows = draw_rows(job.input.truth, settings["positions"], settings["seed"])
    truth = read_positions(job.input.truth, rows)
    costs: list[dict] = []
    with tqdm(total=len(rows) * len(settings["models"]), unit="position", disable=None) as bar:
        for facts, logits, weights in zip(settings["models"], job.input.logits, job.input.weights, strict=True):
            bar.set_description(facts["model"])
            own = read_positions(logits, rows)
            for cost in measure(facts["model"], read_head(weights), own, truth, settings["tau"], settings["delta"]):
                costs.append(cost)
                bar.update()
    table = cost_table(pd.DataFrame(costs), settings["models"], read_published([job.input.published]))
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], TITLE)
    write_latex(table, job.output.latex, TITLE)


if __name__ == "__main__":
    run(main, snakemake)
