"""The tables and the figure of what each way of imposing a rank costs, paired by seed."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.scores.sums import summarise_scores
from oversmoothing.store.layout import read_csv, write_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_table
from studies.paired_ranks.paired import TBAT, paired_page, paired_table, per_seed
from studies.paired_ranks.paired_figure import draw

TITLE = "What each way of imposing a rank costs over the full model, paired by seed."


def main(job: Job) -> None:
    """Read the imposed-rank table, TBAT, histories and the full models' snapshots; write tables and figure."""
    settings = job.params.settings
    titles = {kind["kind"]: kind["title"] for kind in settings["kinds"]}
    histories = {Path(path).parent.name: read_table(path).to_pandas() for path in job.input.histories}
    along = [read_table(path).to_pandas().assign(model=Path(path).stem) for path in job.input.along]
    table = read_csv(job.input.table)
    facts = table.drop_duplicates("model").set_index("model")[["way", "rank", "seed"]]
    rows = []
    for path in map(Path, job.input.tbat):
        summary = summarise_scores(path, ["pure"], settings["resamples"], settings["seed"])[None, "pure"]
        rows.append({**facts.loc[path.stem], "model": path.stem, "measure": "tbat", "unit": TBAT.unit, **vars(summary)})
    table = pd.concat([table, pd.DataFrame(rows)], ignore_index=True)
    differences = per_seed(table, histories, pd.concat(along, ignore_index=True), titles["family"])
    write_csv(differences, job.output.seeds)
    paired = paired_table(differences, read_csv(job.input.published), titles)
    write_table(job.output, paired, paired_page(paired, TITLE))
    figure = draw(read_csv(job.output.csv), settings["truth"], settings["kinds"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
