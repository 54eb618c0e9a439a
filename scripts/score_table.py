"""Mean scores of each model, beside the thesis's numbers (Tables 4.1, 4.2, 6.1, 7.1, 7.2, E.1 to E.8 and F.1)."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.scores.sums import mean_brackets, summarise_scores
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.published import read_published
from oversmoothing.tables.score_tables import score_page, score_table


def main(job: Job) -> None:
    """Read the scores of some models; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    summaries = []
    for path in map(Path, job.input.scores):
        scores = summarise_scores(
            path, settings["decodings"], settings["resamples"], settings["seed"], settings.get("pooled")
        )
        brackets = mean_brackets(path)
        summaries += [
            {"metric": path.parent.name, "model": path.stem, "truth": truth, "decoding": decoding, **vars(summary)}
            | ({"bracket": brackets[decoding]} if decoding in brackets else {})
            for (truth, decoding), summary in scores.items()
        ]
    published = read_published(job.input.published)
    table = score_table(pd.DataFrame(summaries), settings["models"], settings["truths"], published)
    of_table = (settings["title"], settings["across"], settings.get("byte_views", ()))
    write_record(job.output, table, score_page(table, Path(job.output.csv).stem, *of_table))


if __name__ == "__main__":
    run(main)
