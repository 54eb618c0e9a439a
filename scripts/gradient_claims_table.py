"""Verdicts on what is said of expressivity and optimisation, from differences paired by seed."""

from oversmoothing.claims.claims import DISPUTE
from oversmoothing.claims.gradient import Arms
from oversmoothing.claims.table import claims_table, dispute_page
from oversmoothing.jobs import Job, run
from oversmoothing.layout import read_csv
from oversmoothing.page_formats import write_table

TITLE = "Expressivity or optimisation: what is said, and whether it holds in this run:"


def main(job: Job) -> None:
    """Test every claim on the differences and shares; write CSV, Markdown, HTML and LaTeX."""
    table = claims_table(DISPUTE, Arms(read_csv(job.input.seeds), read_csv(job.input.gradient)), None)
    table = table.drop(columns=[name for name in table if name.startswith("published_")] + ["chapter"])
    write_table(job.output, table, dispute_page(DISPUTE, table, TITLE))


if __name__ == "__main__":
    run(main)
