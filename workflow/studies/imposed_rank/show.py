"""The table and the figure of all ways to impose a rank: loss, accuracy and oversmoothing at the same positions."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import Summary, WindowSums, summarise
from oversmoothing.scores.sums import summarise_scores
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.losses import predictions
from oversmoothing.tables.record import read_record
from studies.imposed_rank.figure import draw
from studies.imposed_rank.table import imposed_rank_page, imposed_rank_table, shares_of_cost

TITLE = "Ways to impose a rank on the LM head: learned from scratch, on the gradient alone, truncated, retrained."


def main(job: Job) -> None:
    """Read logits and scores of all models; write the table and the figure in all formats."""
    settings = job.params.settings
    titles = {kind["kind"]: kind["title"] for kind in settings["kinds"]}
    resamples, seed = settings["resamples"], settings["seed"]
    summaries: dict[tuple[str, str, str | None], Summary] = {}
    losses: dict[str, WindowSums] = {}
    for path in map(Path, job.input.logits):
        predicted = predictions(path)
        losses[path.stem] = predicted.losses
        summaries[path.stem, "loss", None] = summarise(predicted.losses, resamples, seed)
        summaries[path.stem, "accuracy", None] = summarise(predicted.right, resamples, seed)
    for path in map(Path, job.input.scores):
        for (truth, _), summary in summarise_scores(path, ["pure"], resamples, seed).items():
            summaries[path.stem, path.parent.name, truth] = summary
    summaries |= shares_of_cost(losses, settings["models"], resamples, seed)
    table = imposed_rank_table(summaries, settings["models"], titles, settings["unit"])
    write_record(job.output, table, imposed_rank_page(table, TITLE, titles))
    figure = draw(read_record(job.output.csv), settings["truth"], settings["kinds"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
