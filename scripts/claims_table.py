"""The thesis's findings as claims: which of them hold in this run, and which on its own printed means."""

from pathlib import Path
from typing import TYPE_CHECKING

from oversmoothing.claims.claims import CLAIMS
from oversmoothing.claims.comparison import Chance
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.published import Published
from oversmoothing.claims.table import claims_table, write_latex, write_pages
from oversmoothing.jobs import run
from oversmoothing.layout import write_csv

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "What the thesis found, and whether it holds."


def main(job: "Snakemake") -> None:
    """Test every claim on the files of this run and on the thesis's tables; write CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    files = {(path.parent.name, path.stem): path for path in map(Path, job.input.by_model)}
    files |= {("history", path.parent.name): path for path in map(Path, job.input.histories)}
    files |= {
        ("quality", "human"): Path(job.input.human),
        ("windows", ""): Path(job.input.windows),
        ("cost", ""): Path(job.input.cost),
    }
    chance = Chance(settings["resamples"], settings["seed"], settings["run_to_run"])
    evidence = Run(files, settings["models"], settings["decodings"], chance)
    published = Published({path.stem.removeprefix("table_"): path for path in map(Path, job.input.published)})
    table = claims_table(CLAIMS, evidence, published)
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], TITLE, chance.run_to_run, evidence.family)
    write_latex(table, job.output.latex, TITLE, chance.run_to_run, evidence.family)


if __name__ == "__main__":
    run(main, snakemake)
