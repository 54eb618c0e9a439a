"""The model and the texts of the section `real_head`, the truths that its head is held against, and mistakes in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.hub.names import as_folder, asset_name
from plan.assets import hub_source, step
from plan.settings import settings
from plan.studies import Study
from studies.real_head.names import ALL, FLATTER, LONGER, MEMORIES, SHUFFLED

Config = Mapping[str, Any]


def section(config: Config) -> Mapping[str, Any]:
    """Return the settings of the study."""
    return config["real_head"]


def texts(config: Config) -> dict[str, Mapping[str, Any]]:
    """Texts by name; none without a model."""
    return {entry["name"]: entry for entry in section(config)["texts"]} if section(config)["model"] else {}


def asset(config: Config) -> str:
    """Name of the asset that the model is."""
    return asset_name(section(config)["model"], section(config)["revision"])


def truths(config: Config) -> dict[str, dict[str, Any]]:
    """What to measure, by name: the `truth`, the number of `positions`, and the head's `rank`, None for its own."""
    few = section(config)["controls"]
    whole = {ALL: {"truth": ALL, "positions": section(config)["positions"], "rank": None}}
    others = {name: {"truth": name, "positions": few, "rank": None} for name in (*MEMORIES, SHUFFLED, LONGER, FLATTER)}
    ranks = {f"{ALL}-rank{rank}": {"truth": ALL, "positions": few, "rank": rank} for rank in section(config)["ranks"]}
    return whole | others | ranks


def on_sphere(config: Config) -> dict[str, dict[str, Any]]:
    """For which truths to measure what the norm and the head force together, by name: `truth` and `positions`."""
    count = section(config)["sphere"]["positions"]
    return {} if count is None else {name: {"truth": name, "positions": count} for name in (ALL, LONGER)}


def read_settings(config: Config, text: Mapping[str, Any]) -> dict[str, Any]:
    """Settings on which the states of a text depend."""
    of_text = {"name": text["name"], "paths": text["paths"], "column": text.get("column", "text")}
    chosen = {key: section(config)[key] for key in ("documents", "tokens", "short", "threads", "precision")}
    return settings(**chosen, text=of_text, model=asset(config))


def norm_settings(config: Config) -> dict[str, Any]:
    """Settings on which the norm before the head depends."""
    return settings(**{key: section(config)[key] for key in ("threads", "precision")}, model=asset(config))


def mistakes(config: Config) -> Iterator[str]:
    """Check that there are texts, each of another name, and that the short context is shorter."""
    if section(config)["model"] is None:
        return
    names = [entry["name"] for entry in section(config)["texts"]]
    if not names:
        yield "real_head.texts: the model reads none; name files, such as [{name: manual, paths: [manual.jsonl]}]"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"real_head.texts: {name} is listed twice; give each its own name"
    if section(config)["short"] >= section(config)["tokens"]:
        yield "real_head.short: it must be lower than real_head.tokens, the longer context that it is compared with"


def _folders(config: Config) -> dict[str, str]:
    model = section(config)["model"]
    folder = as_folder(model) if isinstance(model, str) else None
    return {"real_head.model": str(folder)} if folder else {}


def _assets(config: Config) -> dict[str, tuple[dict[str, str], int | None]]:
    model, revision = section(config)["model"], section(config)["revision"]
    return {asset(config): (hub_source(model, revision), step(revision))} if model else {}


def _texts(config: Config) -> dict[str, list[str]]:
    if section(config)["model"] is None:
        return {}
    return {f"real_head.texts.{i}.paths": entry["paths"] for i, entry in enumerate(section(config)["texts"])}


STUDY = Study(mistakes, texts=_texts, folders=_folders, assets=_assets)
