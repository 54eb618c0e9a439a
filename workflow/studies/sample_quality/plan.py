"""The judge of samples: the language model that the config names, settings, and mistakes in them."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.hub.names import Named, as_folder, asset_name
from oversmoothing.scores.decoding import decoding_name
from plan.arms import TRUNCATED
from plan.assets import hub_source, step
from plan.model_types import Model
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from plan.thesis import compared

JUDGING = {"language_model", "reads", "reads_svd"}  # keys that say who reads what


def asset(config: Mapping[str, Any]) -> str | None:
    """Return the name of the asset that ``quality.language_model`` is; None if the small model is trained."""
    return asset_name(*_named(config)) if config["quality"]["language_model"] else None


def quality_settings(config: Mapping[str, Any], model: Model, sets: list[str]) -> dict[str, Any]:
    """Return settings on which the quality of a model's samples depends; the names of `sets` are those of decodings."""
    reads, ranks = config["quality"]["reads"], config["quality"]["reads_svd"]
    read = [name for name in sets if reads is None or name in reads]
    unread = model.kind == TRUNCATED.kind and ranks is not None and model.rank not in ranks
    return _measured(config, sets, "continuation", [] if unread else read)


def human_settings(config: Mapping[str, Any], sets: list[str]) -> dict[str, Any]:
    """Return settings on which the quality of sets of human texts depends, which are all read."""
    return _measured(config, sets, "scored", sets)


def reading_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings on which the features of texts depend."""
    return settings(**{key: config["quality"][key] for key in ("batch", "completed", "precision", "threads")})


def _measured(config: Mapping[str, Any], sets: list[str], column: str, read: list[str]) -> dict[str, Any]:
    measured = {key: value for key, value in config["quality"].items() if key not in JUDGING}
    return settings(**measured, sets=sets, column=column, reads=read)


def quality(run: Run) -> str:
    """Return the file of the quality of a model's samples, with the wildcard {model}."""
    return f"{run.results}/quality/{{model}}.parquet"


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and the figure of bytes, if samples are judged."""
    if not run.judged:
        return
    yield Table(
        "sample_quality_table",
        "show.py",
        {
            "quality": run.of(quality(run), run.judged),
            "human": f"{run.results}/human_quality.parquet",
            "windows": run.windows,
            "second": f"{run.results}/second_windows.parquet",
            "samples": [run.samples.format(model=name, decoding="pure") for name in run.known_inside],
            "published": run.published("5_3", "6_2", "6_3"),
            "published_svd": run.published("h_1"),
        },
        settings(
            **run.config["statistics"],
            completed=run.config["quality"]["completed"],
            windows=run.config["windows"],
            family=run.compared_inside("family"),
            truths=run.compared_inside("truth"),
            svd=compared(run.config, "svd"),
        ),
        table=Shown("sample_quality", "5 Samples", "Tables 5.3, 6.2, 6.3, H.1: sample quality"),
        figure=Shown("byte_frequency", "5 Samples", "Figure 5.1: bytes in samples"),
    )


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Check the decodings whose samples are read, and the small language model, if one is trained."""
    known = {decoding_name(entry) for entry in (*config["decodings"], *config["samples"]["decodings"])}
    for name in config["quality"]["reads"] or ():
        if name not in known:
            yield f"quality.reads: no decoding {name!r}; there are {', '.join(sorted(known))}"
    for rank in sorted({*(config["quality"]["reads_svd"] or ())} - {*config["svd_ranks"]}):
        yield f"quality.reads_svd: {rank} is none of svd_ranks, {config['svd_ranks']}"
    small, windows = config["language_model"], config["windows"]
    longest = windows["prompt"] + windows["scored"]  # a prompt may be one long word
    if config["quality"]["language_model"] is not None:
        return
    if small["width"] % small["heads"]:
        yield f"language_model.width: {small['width']} is not a multiple of language_model.heads, {small['heads']}"
    if longest > small["block"]:
        yield (
            f"language_model.block: {small['block']} tokens, but a sample may have {longest} "
            "(windows.prompt + windows.scored); raise it"
        )


def _named(config: Mapping[str, Any]) -> tuple[Named, str]:
    """Return the name on the hub (or folder or package) and revision of ``quality.language_model``."""
    name = config["quality"]["language_model"]
    source, _, revision = (name, "", "") if not isinstance(name, str) or as_folder(name) else name.partition("@")
    return source, revision or "main"


def _folders(config: Mapping[str, Any]) -> dict[str, str]:
    name = config["quality"]["language_model"]
    folder = as_folder(name) if name else None
    return {"quality.language_model": str(folder)} if folder else {}


def _assets(config: Mapping[str, Any]) -> dict[str, tuple[dict[str, str], int | None]]:
    name = asset(config)
    return {name: (hub_source(*_named(config)), step(_named(config)[1]))} if name else {}


STUDY = Study(
    mistakes,
    folders=_folders,
    assets=_assets,
    tables=tables,
    tested={"sample_quality": ("5_3", "6_2", "6_3", "h_1"), "samples": ()},
)
