"""Table and figure of what models show against a law that is known."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.known_law.correlations import correlations
from studies.known_law.figure import draw
from studies.known_law.page import known_law_page
from studies.known_law.table import LAW, MEASURES, SEEING, known_law_table


def main(job: Job) -> None:
    """Read the scores of all models that learn a text; write the table and the figure in all formats."""
    settings = job.params.settings
    divided = pd.concat(means(path, *(name for name in MEASURES if name != "nsmd")) for path in job.input.forced)
    nsmd = pd.concat(means(path, "value") for path in job.input.nsmd).rename(columns={"value": "nsmd"})
    scores = divided.merge(nsmd, on=["text", "model", "truth"])
    trials = [named(path, read_table(path).to_pandas()) for path in job.input.trial or []]
    seen = [named(path, pd.DataFrame([seeing(path)])) for path in job.input.impossible or []]
    table = known_law_table(scores, joined(trials), joined(seen), settings["learners"])
    write_record(job.output, table, known_law_page(table, settings["laws"]))
    write_figure(draw(table, settings["laws"]), [job.output.png, job.output.pdf, job.output.svg])


def joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """One table of all; empty if there is none."""
    return pd.concat(tables) if tables else pd.DataFrame()


def means(path: str, *columns: str) -> pd.DataFrame:
    """Means over positions by truth, with the text and the model that the path names."""
    scores = read_table(path).select(["truth", *columns]).to_pandas()
    return named(path, scores.astype({"truth": str}).groupby("truth").mean().reset_index())


def seeing(path: str) -> dict[str, float]:
    """Rank correlations of a model's metrics against the law with the masses in a file of `trial`."""
    nsmd, forced = (path.replace("/impossible/", f"/{metric}/") for metric in ("nsmd", "forced"))
    masses, of_law = read_table(path).to_pandas(), against_law(forced)
    others = {"tbat": masses, "nsmd": against_law(nsmd).rename(columns={"value": "nsmd"})}
    return correlations(masses, dict.fromkeys(SEEING, of_law) | others)


def against_law(path: str) -> pd.DataFrame:
    """Rows of a score file against the law."""
    scores = read_table(path).to_pandas()
    return scores[scores.truth == LAW]


def named(path: str, table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns ``text`` and ``model``: files lie in ``laws/{text}/scores/{metric}/{model}.parquet``."""
    return table.assign(text=Path(path).parts[-4], model=Path(path).stem)


if __name__ == "__main__":
    run(main)
