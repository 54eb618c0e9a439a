"""The model and the texts of the section `real_head`, the truths that its head is held against, and mistakes in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.hub.names import as_folder, asset_name
from plan.assets import hub_source, step
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from studies.real_head.names import ALL, FLATTER, LONGER, MEMORIES, SHUFFLED

Config = Mapping[str, Any]


def texts(config: Config) -> dict[str, Mapping[str, Any]]:
    """Return texts by name; none without a model."""
    return {entry["name"]: entry for entry in config["real_head"]["texts"]} if config["real_head"]["model"] else {}


def asset(config: Config) -> str:
    """Return the name of the asset that the model is."""
    return asset_name(config["real_head"]["model"], config["real_head"]["revision"])


def truths(config: Config) -> dict[str, dict[str, Any]]:
    """Return what to measure, by name: `truth`, number of `positions`, and the head's `rank`, None for its own."""
    section = config["real_head"]
    whole, few = ({"positions": section[key], "rank": None} for key in ("positions", "controls"))
    others = {name: {**few, "truth": name} for name in (*MEMORIES, SHUFFLED, LONGER, FLATTER)}
    ranks = {f"{ALL}-rank{rank}": {**few, "truth": ALL, "rank": rank} for rank in section["ranks"]}
    return {ALL: {**whole, "truth": ALL}} | others | ranks


def on_sphere(config: Config) -> dict[str, dict[str, Any]]:
    """Return the truths of which to measure what norm and head force together, by name: `truth` and `positions`."""
    count = config["real_head"]["sphere"]["positions"]
    return {} if count is None else {name: {"truth": name, "positions": count} for name in (ALL, LONGER)}


def read_settings(config: Config, text: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings on which the states of a text depend."""
    chosen = {key: config["real_head"][key] for key in ("documents", "tokens", "short", "threads", "precision")}
    return settings(**chosen, text={"column": "text", **text}, model=asset(config))


def mistakes(config: Config) -> Iterator[str]:
    """Check that there are texts, each of another name, and that the short context is shorter."""
    if config["real_head"]["model"] is None:
        return
    names = [entry["name"] for entry in config["real_head"]["texts"]]
    if not names:
        yield "real_head.texts: the model reads none; name files, such as [{name: manual, paths: [manual.jsonl]}]"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"real_head.texts: {name} is listed twice; give each its own name"
    if config["real_head"]["short"] >= config["real_head"]["tokens"]:
        yield "real_head.short: it must be lower than real_head.tokens, the longer context that it is compared with"


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, if there is a model."""
    folder, read, on_norm = f"{run.results}/real_head", texts(run.config), on_sphere(run.config)
    if read:
        yield Table(
            "real_head_table",
            "show.py",
            {
                "losses": [f"{folder}/losses/{text}.parquet" for text in read],
                "forced": [f"{folder}/forced/{text}/{truth}.parquet" for text in read for truth in truths(run.config)],
                "sphere": [f"{folder}/sphere/{text}/{truth}.parquet" for text in read for truth in on_norm],
            },
            settings(**run.config["statistics"]),
            table=Shown("real_head", "0 Findings", "A head in use: what it cannot say"),
            figure=Shown("real_head", "0 Findings", "A head in use: what it cannot say, drawn"),
        )


def _folders(config: Config) -> dict[str, str]:
    model = config["real_head"]["model"]
    folder = as_folder(model) if isinstance(model, str) else None
    return {"real_head.model": str(folder)} if folder else {}


def _assets(config: Config) -> dict[str, tuple[dict[str, str], int | None]]:
    model, revision = config["real_head"]["model"], config["real_head"]["revision"]
    return {asset(config): (hub_source(model, revision), step(revision))} if model else {}


def _texts(config: Config) -> dict[str, list[str]]:
    return {f"real_head.texts.{i}.paths": entry["paths"] for i, entry in enumerate(texts(config).values())}


STUDY = Study(mistakes, tables=tables, texts=_texts, folders=_folders, assets=_assets)
