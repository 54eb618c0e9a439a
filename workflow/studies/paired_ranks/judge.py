"""Verdicts on what is said of expressivity and optimisation, from differences paired by seed."""

from collections.abc import Sequence

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.table import HOW, WIDTHS, by_claim, cells_of_run, claims_table, tally, verdict_words
from oversmoothing.jobs import Job, run
from oversmoothing.tables.formats import write_table
from oversmoothing.tables.page import Cell, Page, Section
from oversmoothing.tables.record import read_record
from oversmoothing.tables.story import legend
from studies.paired_ranks.dispute import DISPUTE, Arms

TITLE = "Expressivity or optimisation: what is said, and whether it holds in this run:"


def main(job: Job) -> None:
    """Test every claim on the differences and shares; write CSV, Markdown, HTML and LaTeX."""
    arms = Arms(read_record(job.input.seeds), read_record(job.input.gradient), job.params.settings["classes"])
    table = claims_table(DISPUTE, arms, None)
    write_table(job.output, table.drop(columns="chapter"), dispute_page(DISPUTE, table, TITLE))


def dispute_page(claims: Sequence[Claim], table: pd.DataFrame, title: str) -> Page:
    """Page with a row per claim about expressivity and optimisation, from the `claims_table` of them."""
    published = {claim.id: claim.published for claim in claims}
    rows = [
        cells_of_run(row) | {"published": published[row["id"]] or None} for row in by_claim(table).to_dict("records")
    ]
    tests: list[dict[str, Cell]] = [{"claim": claim.id, "test": claim.how} for claim in claims]
    verdicts = ", ".join(tally(table.verdict))
    words = [*legend(__file__, "gradient_claims"), *verdict_words()]
    return Page(f"{title} {verdicts}.", [Section("", rows, WIDTHS), Section(HOW, tests, latex=False)], words)


if __name__ == "__main__":
    run(main)
