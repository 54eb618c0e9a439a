"""The tables and the figure of what each way of imposing a rank costs, paired by seed."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.scores.sums import summarise_scores
from oversmoothing.store.layout import read_csv, write_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import FACTS, numbers, read_record, record, written
from studies.paired_ranks.paired import TBAT, as_record, paired_page, paired_table, per_seed
from studies.paired_ranks.paired_figure import draw

TITLE = "What each way of imposing a rank costs over the full model, paired by seed."


def main(job: Job) -> None:
    """Read the imposed-rank table, TBAT, histories and the full models' snapshots; write tables and figure."""
    settings = job.params.settings
    titles = {kind["kind"]: kind["title"] for kind in settings["kinds"]}
    histories = {Path(path).parent.name: read_table(path).to_pandas() for path in job.input.histories}
    along = [read_table(path).to_pandas().assign(model=Path(path).stem) for path in job.input.along]
    table = read_record(job.input.table)
    models = table.drop_duplicates("model").set_index("model")[list(FACTS)]
    rows = []
    for path in map(Path, job.input.tbat):
        summary = summarise_scores(path, ["pure"], settings["resamples"], settings["seed"])[None, "pure"]
        known = {**models.loc[path.stem], "model": path.stem}
        rows.append({**known, "measure": "tbat", "unit": TBAT.unit, **numbers(summary)})
    table = pd.concat([table, record(rows)], ignore_index=True)
    differences = per_seed(table, histories, pd.concat(along, ignore_index=True))
    write_csv(written(as_record(differences), Path(job.output.seeds).stem), job.output.seeds)
    paired = paired_table(differences, read_csv(job.input.published), titles)
    write_record(job.output, paired, paired_page(paired, TITLE, titles))
    figure = draw(read_record(job.output.csv), settings["truth"], settings["kinds"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
