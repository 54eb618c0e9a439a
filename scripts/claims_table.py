"""Verdicts on the findings of the thesis and of Godey et al., and on ours, from this run and the thesis's means."""

from pathlib import Path

import pandas as pd

from oversmoothing.claims.added import of_studies
from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.claims import CLAIMS
from oversmoothing.claims.comparison import Chance
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.published import Published
from oversmoothing.claims.table import NOT_ASKED, claims_page, claims_table
from oversmoothing.jobs import Job, run
from oversmoothing.tables.formats import write_table
from oversmoothing.tables.record import read_record

TITLE = "What the thesis and Godey et al. (2024) found, and what we add, and whether it holds."


def main(job: Job) -> None:
    """Test every claim on the files of this run and on the thesis's tables; write CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    files = {(path.parent.name, path.stem): path for path in map(Path, job.input.by_model)}
    files |= {("history", path.parent.name): path for path in map(Path, job.input.histories)}
    files |= {("windows", ""): Path(job.input.windows)}
    files |= {_key(path, Path(job.output.csv).parents[1]): path for path in map(Path, job.input.tested)}
    chance = Chance(settings["resamples"], settings["seed"], settings["run_to_run"])
    evidence = Run(files, settings["models"], settings["decodings"], chance)
    published = Published({path.stem.removeprefix("table_"): path for path in map(Path, job.input.published)})
    analyses = Analyses(
        {name: read_record(path) for (what, name), path in files.items() if what == "tables"},
        settings["models"],
        {model: path for (what, model), path in files.items() if what == "logits"},
        chance,
    )
    added = of_studies(settings["studies"])
    ours = [claim for claim in added.claims if claim.chapter in added.headings]
    of_godey = sorted((claim for claim in added.claims if claim.chapter == "G"), key=lambda claim: claim.place)
    of_thesis = [*CLAIMS, *(claim for claim in added.claims if claim not in [*ours, *of_godey])]
    parts = [
        claims_table(sorted(of_thesis, key=lambda claim: claim.section), evidence, published),
        *([claims_table(of_godey, analyses, None)] if of_godey else []),
        *([claims_table(ours, evidence, None, NOT_ASKED)] if ours else []),
    ]
    table = pd.concat(parts, ignore_index=True)
    write_table(job.output, table, claims_page(table, TITLE, chance.run_to_run, evidence.family, added))


def _key(path: Path, results: Path) -> tuple[str, str]:
    """Return the kind of a result and whose it is: of ``quality/truth.parquet`` ("quality", "truth")."""
    return (path.stem, "") if path.parent == results else (path.parent.name, path.stem)


if __name__ == "__main__":
    run(main)
