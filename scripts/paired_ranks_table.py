"""What each way of imposing a rank costs, paired by seed."""

from pathlib import Path

import pandas as pd

from oversmoothing.gradient.paired import TBAT, paired_page, paired_table, per_seed
from oversmoothing.jobs import Job, run
from oversmoothing.layout import read_csv, write_csv
from oversmoothing.page_formats import write_table
from oversmoothing.score_sums import summarise_scores
from oversmoothing.store.parquet import read_table

TITLE = "What each way of imposing a rank costs over the full model, paired by seed."


def main(job: Job) -> None:
    """Read the imposed-rank table, TBAT, histories and the full models' snapshots; write the table and its seeds."""
    settings = job.params.settings
    histories = {Path(path).parent.name: read_table(path).to_pandas() for path in job.input.histories}
    along = [read_table(path).to_pandas().assign(model=Path(path).stem) for path in job.input.along]
    table = read_csv(job.input.table)
    facts = table.drop_duplicates("model").set_index("model")[["way", "rank", "seed"]]
    rows = []
    for path in map(Path, job.input.tbat):
        summary = summarise_scores(path, ["pure"], settings["resamples"], settings["seed"])[None, "pure"]
        rows.append({**facts.loc[path.stem], "model": path.stem, "measure": "tbat", "unit": TBAT.unit, **vars(summary)})
    differences = per_seed(
        pd.concat([table, pd.DataFrame(rows)], ignore_index=True), histories, pd.concat(along, ignore_index=True)
    )
    write_csv(differences, job.output.seeds)
    paired = paired_table(differences, read_csv(job.input.published))
    write_table(job.output, paired, paired_page(paired, TITLE))


if __name__ == "__main__":
    run(main)
