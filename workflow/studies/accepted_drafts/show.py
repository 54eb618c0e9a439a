"""How often each truth would accept the tokens that each model drafts, by decoding."""

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.scores.sums import summarise_scores
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import AIMS, IN_BRACKETS, Page, Section, by_model, directions, labelled, valued
from oversmoothing.tables.record import facts, numbers, record

MEASURE = {"measure": "acceptance", "unit": "probability", "better": "higher"}


def main(job: Job) -> None:
    """Read the acceptance rates of some models; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    rows = []
    for model, path in zip(settings["models"], job.input.scores, strict=True):
        scores = summarise_scores(path, settings["decodings"], settings["resamples"], settings["seed"])
        rows += [
            {**facts(model), "truth": truth, "decoding": decoding, **MEASURE, **numbers(summary)}
            for (truth, decoding), summary in scores.items()
        ]
    table = record(rows)
    write_record(job.output, table, page(table))


def page(table: pd.DataFrame) -> Page:
    """Page with a section per truth, a row per model and a column per decoding."""
    sections = []
    for truth, part in table.groupby("truth", sort=False):
        rows = []
        for cells, of_model in by_model(part):
            for row in of_model.to_dict("records"):
                value = valued(row, rivals=row["decoding"], aim=AIMS[row["better"]])
                cells[labelled(row["decoding"], row["better"])] = value
            rows.append(cells)
        sections.append(Section(f"Accepted by `{truth}`", rows))
    legend = [
        "Probability that the truth accepts a token drafted by the model in speculative sampling (Leviathan et al. "
        "2023), the sum of min(p, q) with both decoded as the column says: mean ± standard deviation over "
        f"{int(table.n.max()):,} positions of people's text",
        f"{directions(table.better)}; bold: the best",
    ]
    return Page("Acceptance of each model's drafts, {by}.", sections, legend, IN_BRACKETS)


if __name__ == "__main__":
    run(main)
