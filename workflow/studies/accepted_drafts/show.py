"""How often each truth would accept the tokens that each model drafts, by decoding."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.page import IN_BRACKETS, Cell, Page, Section, Value, directions, labelled, model_cells
from oversmoothing.page_formats import write_table
from oversmoothing.score_sums import summarise_scores


def main(job: Job) -> None:
    """Read the acceptance rates of some models; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    rows = []
    for facts, path in zip(settings["models"], map(Path, job.input.scores), strict=True):
        scores = summarise_scores(path, settings["decodings"], settings["resamples"], settings["seed"])
        rows += [
            {"truth": truth, "decoding": decoding}
            | {name: facts[name] for name in ("model", "rank", "seed")}
            | vars(summary)
            for (truth, decoding), summary in scores.items()
        ]
    table = pd.DataFrame(rows).astype({"rank": "Int64", "seed": "Int64"})
    write_table(job.output, table, page(table))


def page(table: pd.DataFrame) -> Page:
    """Page with a section per truth, a row per model and a column per decoding."""
    sections = []
    for truth, part in table.groupby("truth", sort=False):
        rows = []
        for _, own in part.groupby("model", sort=False):
            row: dict[str, Cell] = model_cells(own.iloc[0].to_dict(), part.seed.nunique() > 1)
            for record in own.to_dict("records"):
                low, high = record["low"], record["high"]
                column = labelled(record["decoding"], "higher")
                row[column] = Value(record["mean"], record["sd"], low, high, record["decoding"], float("inf"))
            rows.append(row)
        sections.append(Section(f"Accepted by `{truth}`", rows))
    legend = [
        "Probability that the truth accepts a token drafted by the model in speculative sampling (Leviathan et al. "
        "2023), the sum of min(p, q) with both decoded as the column says: mean ± standard deviation over "
        f"{int(table.n.max()):,} positions of people's text",
        f"{directions(['higher'])}; bold: the best",
    ]
    return Page("Acceptance of each model's drafts, {by}.", sections, legend, IN_BRACKETS)


if __name__ == "__main__":
    run(main)
