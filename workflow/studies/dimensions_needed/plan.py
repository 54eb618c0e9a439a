"""The ranks over a vocabulary: which truth heads are fitted to, and the trained head that stands beside each."""

from collections.abc import Iterator, Mapping
from typing import Any

from plan.model_types import Hub, Model, Trained
from plan.models import by_name
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from plan.tokens import over_bytes

Config = Mapping[str, Any]


def truth(config: Config) -> Model | None:
    """Return the truth that heads are fitted to: the first whose head is known; None if there is no such one."""
    models = (by_name(config)[entry["name"]] for entry in config["truths"])
    return next((own for own in models if own.linear and not (over_bytes(config) and isinstance(own, Hub))), None)


def trained(config: Config) -> dict[int, str]:
    """Return names of the members whose trained heads are compared, by rank: those of the first seed."""
    return {
        model.rank: model.name
        for model in by_name(config).values()
        if isinstance(model, Trained) and model.kind == "family" and model.seed == config["seeds"][0] and model.rank
    }


def fit_settings(config: Config, rank: int) -> dict[str, Any]:
    """Return settings on which depends what the best head of a rank forces."""
    section = config["dimensions_needed"]
    chosen = {key: section[key] for key in ("per_column", "least", "rounds", "held_per_window", "within_truth")}
    return settings(**chosen, rank=rank, trained=rank in trained(config), windows=config["windows"]["count"])


def mistakes(config: Config) -> Iterator[str]:
    """Check that ranks increase, that the truth has a head of more columns, and that there are positions to fit to."""
    section, windows = config["dimensions_needed"], config["windows"]
    ranks = section["ranks"]
    if not ranks:
        return
    if sorted(ranks) != ranks:
        yield f"dimensions_needed.ranks: {ranks} do not increase; sort them"
    model = truth(config)
    if model is None:
        yield "dimensions_needed.ranks: no truth has a head over what models read; add one to truths that is trained"
    if isinstance(model, Trained) and ranks[-1] >= (columns := model.rank or model.shape["width"]):
        yield (
            f"dimensions_needed.ranks: {ranks[-1]}, but the head of {model.name} has {columns} columns, so that from "
            "there on nothing is forced; leave these ranks out, or widen the truth"
        )
    there, asked = (windows["count"] + 1) // 2 * windows["scored"], section["per_column"] * ranks[-1]
    if windows["count"] < 2:
        yield "windows.count: at least 2 are needed to fit heads to one half of them"
    if asked > there:
        yield (
            f"dimensions_needed.per_column: {section['per_column']} for each of {ranks[-1]} columns are {asked} "
            f"positions, and every other window has {there} together; raise windows.count or windows.scored"
        )


def files(config: Config) -> dict[str, str]:
    """Return the tables of other vocabularies, by key."""
    return {f"dimensions_needed.beside.{i}": path for i, path in enumerate(config["dimensions_needed"]["beside"])}


def measured(run: Run) -> str:
    """Return the file of what heads of a rank force, by ``{rank}``."""
    return f"{run.results}/dimensions_needed/{{rank}}.parquet"


def head(run: Run, rank: int) -> str:
    """Return the file of the head from which the second start is made: the trained one, or else the truth's."""
    members = trained(run.config)
    return run.weights.format(model=members[rank]) if rank in members else truth_head(run)


def truth_head(run: Run) -> str:
    """Return the file of the truth's own head."""
    own = truth(run.config)
    assert own is not None  # see `mistakes`
    path = run.logits.replace(".parquet", ".head.safetensors") if isinstance(own, Hub) else run.weights
    return path.format(model=own.name)


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, if ranks are asked for."""
    section, own = run.config["dimensions_needed"], truth(run.config)
    if section["ranks"] and own:
        yield Table(
            "vocabularies_table",
            "show.py",
            {
                "measured": [measured(run).format(rank=rank) for rank in section["ranks"]],
                "beside": section["beside"],
            },
            settings(**run.config["statistics"], truth=own.name, members=trained(run.config)),
            table=Shown("vocabularies", "0 Findings", "How many dimensions a vocabulary needs: the numbers"),
            figure=Shown("vocabularies", "0 Findings", "How many dimensions a vocabulary needs"),
        )


STUDY = Study(mistakes, files=files, tables=tables)
