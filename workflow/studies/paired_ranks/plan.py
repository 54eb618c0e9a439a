"""Differences paired by seed of all ways to impose a rank, where there are several seeds, and the square of heads."""

from collections.abc import Iterator, Mapping
from typing import Any

from plan.arms import KINDS_OF_FAMILY
from plan.model_types import Trained
from plan.models import by_name, full_models, names
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from studies.imposed_rank import plan as imposed_rank


def compared(config: Mapping[str, Any]) -> bool:
    """Return whether there are differences between models that share a seed, over several seeds."""
    return len(config["seeds"]) > 1 and bool(full_models(by_name(config).values()))


def tables(run: Run) -> Iterator[Table]:
    """Yield the differences by arm, and those of the square, each with a figure."""
    if not compared(run.config):
        return
    by_seed = run.table("paired_ranks_by_seed")
    arms = names(run.models, *KINDS_OF_FAMILY)
    ways = [row["model"] for row in imposed_rank.rows(run.config)]
    yield Table(
        "paired_ranks_table",
        "paired.py",
        {
            "table": run.table("imposed_rank"),
            "tbat": run.scores(["tbat"], [name for name in arms if run.models[name].linear]),
            "histories": run.of(run.history, [name for name in ways if isinstance(run.models.get(name), Trained)]),
            "published": run.published_file("murugan_2026"),
        },
        settings(**run.config["statistics"], truth=run.truths[0]),
        table=Shown("paired_ranks", "9 Gradient", "Ways to impose a rank: differences paired by seed"),
        figure=Shown("paired_ranks", "9 Gradient", "What a rank costs, by where it is imposed"),
        files={"seeds": by_seed},
    )
    if imposed_rank.closes_a_square(run.config):
        square = Shown("closed_square", "9 Gradient", "What a rank costs in the trunk and in the head")
        yield Table(
            "closed_square_table",
            "square.py",
            {"seeds": by_seed},
            settings(truth=run.truths[0]),
            table=square,
            figure=square,
        )


STUDY = Study(tables=tables, needs=("imposed_rank",))
