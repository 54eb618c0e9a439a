"""Verdicts on what is said of expressivity and optimisation, from differences paired by seed."""

from collections.abc import Sequence

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.table import DECIDES, HOW, WIDTHS, claims_table, tally, verdict_cell, what_decides
from oversmoothing.jobs import Job, run
from oversmoothing.store.layout import number
from oversmoothing.tables.formats import write_table
from oversmoothing.tables.page import Cell, Page, Section, Value
from oversmoothing.tables.record import read_record
from studies.paired_ranks.dispute import DISPUTE, Arms
from studies.paired_ranks.paired import from_record

TITLE = "Expressivity or optimisation: what is said, and whether it holds in this run:"
LEGEND = [
    "A claim holds if each of its comparisons lies above its bound (0 unless another is named) by its own 95 % "
    "interval; it does not hold if one lies below with all of them taken together (Bonferroni); else this run cannot "
    "tell. In brackets: how many of the comparisons hold",
    DECIDES,
    "Effect: that of the weakest comparison, with its 95 % interval by Student's t over seeds (for a correlation, "
    "Fisher's, which takes the arms for independent)",
    "Published: other models, text and training; compare signs, not sizes",
]


def main(job: Job) -> None:
    """Test every claim on the differences and shares; write CSV, Markdown, HTML and LaTeX."""
    differences = from_record(read_record(job.input.seeds))
    arms = Arms(differences, read_record(job.input.gradient), job.params.settings["classes"])
    table = claims_table(DISPUTE, arms, None)
    table = table.drop(columns=[name for name in table if name.startswith("published_")] + ["chapter"])
    write_table(job.output, table, dispute_page(DISPUTE, table, TITLE))


def dispute_page(claims: Sequence[Claim], table: pd.DataFrame, title: str) -> Page:
    """Page with a row per claim about expressivity and optimisation, from the `claims_table` of them."""
    published = {claim.id: claim.published for claim in claims}
    rows: list[dict[str, Cell]] = []
    for row in table.to_dict("records"):
        effect: Cell = None
        if pd.notna(row["effect"]):
            ends = (row["effect"] - row["run_to_run"], row["effect"] + row["run_to_run"])
            low, high = (row["low"], row["high"]) if pd.notna(row["low"]) else ends
            note = f"against {number(row['bound'])}" if row["bound"] else ""
            effect = Value(row["effect"], None, low, high, note=note)
        rows.append(
            {
                "claim": f"{row['statement']} ({row['place']}; {row['id']})",
                "this run": "; ".join([verdict_cell(row, ""), *what_decides(row)]),
                "effect": effect,
                "weakest comparison": row["weakest"] if pd.notna(row["weakest"]) else row["note"],
                "published": published[row["id"]] or None,
            }
        )
    tests: list[dict[str, Cell]] = [{"claim": claim.id, "test": claim.how} for claim in claims]
    verdicts = ", ".join(tally(table.verdict))
    return Page(f"{title} {verdicts}.", [Section("", rows, WIDTHS), Section(HOW, tests, latex=False)], LEGEND)


if __name__ == "__main__":
    run(main)
