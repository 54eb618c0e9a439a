"""Verdicts on the findings of the thesis and of Godey et al., and on ours, from this run and the thesis's means."""

from pathlib import Path

from oversmoothing.claims.catalogue import in_order
from oversmoothing.claims.measured import of_run, of_thesis
from oversmoothing.claims.table import claims_page, claims_table
from oversmoothing.jobs import Job, import_by_name, run
from oversmoothing.tables.formats import write_table
from oversmoothing.tables.record import read_tables

TITLE = "What the thesis and Godey et al. (2024) found, and what we add, and whether it holds."


def main(job: Job) -> None:
    """Test every claim on the tables of this run and of the thesis; write CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    measured = of_run(read_tables([*job.input.tables, *job.input.windows]), settings["models"])
    files = {Path(path).stem.removeprefix("table_"): path for path in job.input.published}
    thesis = of_thesis({name: [files[one] for one in numbers] for name, numbers in settings["printed"].items()})
    modules = [import_by_name(f"studies.{name}.claims") for name in settings["studies"]]
    claims, headings = in_order(modules)
    table = claims_table(claims, measured, thesis)
    write_table(job.output, table, claims_page(table, TITLE, headings, measured.family))


if __name__ == "__main__":
    run(main)
