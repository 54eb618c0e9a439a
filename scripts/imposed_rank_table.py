"""Ways of imposing a rank compared: loss, accuracy and oversmoothing over the same positions."""

from pathlib import Path

from oversmoothing.imposed_rank.table import imposed_rank_page, imposed_rank_table, shares_of_cost
from oversmoothing.jobs import Job, run
from oversmoothing.losses import predictions
from oversmoothing.page_formats import write_table
from oversmoothing.score_sums import summarise_scores
from oversmoothing.statistics import Summary, WindowSums, summarise

TITLE = "Ways to impose a rank on the LM head: learned from scratch, on the gradient alone, truncated, retrained."


def main(job: Job) -> None:
    """Read logits and scores of all models; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    resamples, seed = settings["resamples"], settings["seed"]
    summaries: dict[tuple[str, str, str | None], Summary] = {}
    losses: dict[str, WindowSums] = {}
    for path in map(Path, job.input.logits):
        found = predictions(path)
        losses[path.stem] = found.losses
        summaries[path.stem, "loss", None] = summarise(found.losses, resamples, seed)
        summaries[path.stem, "accuracy", None] = summarise(found.right, resamples, seed)
    for path in map(Path, job.input.scores):
        for (truth, _), summary in summarise_scores(path, ["pure"], resamples, seed).items():
            summaries[path.stem, path.parent.name, truth] = summary
    summaries |= shares_of_cost(losses, settings["models"], resamples, seed)
    table = imposed_rank_table(summaries, settings["models"], settings["unit"])
    write_table(job.output, table, imposed_rank_page(table, TITLE))


if __name__ == "__main__":
    run(main)
