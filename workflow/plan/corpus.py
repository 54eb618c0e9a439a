"""The corpus: its files, its settings, and the number of bytes needed."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from oversmoothing.data.extensions import COMPRESSED, PARQUET
from oversmoothing.data.globs import matching_files
from plan.model_types import Trained, of_type
from plan.models import by_name
from plan.resources import scaled
from plan.settings import settings

WITHOUT_PATHS = ("docstrings", "fineweb")  # sources that do not read `corpus.paths`; any other may
TEXT_PER_PARQUET = 1.5  # bytes of text per byte of a file
TEXT_PER_BYTE = dict.fromkeys(PARQUET, TEXT_PER_PARQUET) | dict.fromkeys(COMPRESSED, 4)


def is_fetched(config: Mapping[str, Any]) -> bool:
    """Return whether the text is a dataset that `snakemake assets` fetches."""
    return config["corpus"]["source"] == "fineweb"


def patterns(config: Mapping[str, Any]) -> list[str]:
    """Return globs of the user's text; empty for a source that does not read the user's files."""
    return [] if config["corpus"]["source"] in WITHOUT_PATHS else config["corpus"]["paths"]


def user_files(config: Mapping[str, Any]) -> list[str]:
    """Return files of the user's text, sorted."""
    return matching_files(patterns(config))


def local_shards(config: Mapping[str, Any]) -> list[Path]:
    """Return shards of the corpus in the user's folder; empty if they come from the hub."""
    fineweb = config["corpus"]["fineweb"]
    if not is_fetched(config) or not fineweb["repository"].startswith(("/", ".", "~")):
        return []
    return [Path(fineweb["repository"]).expanduser() / shard for shard in (*fineweb["train"], *fineweb["evaluation"])]


def text_bytes(config: Mapping[str, Any]) -> int:
    """Return the estimated size of the text in the user's files, decompressed."""
    return round(
        sum(TEXT_PER_BYTE.get(Path(path).suffix.lower(), 1) * Path(path).stat().st_size for path in user_files(config))
    )


def memory(config: Mapping[str, Any], attempt: int = 1) -> int:
    """Return the estimated memory of building the corpus in MB.

    With the user's files it grows by at most four bytes per byte of text: a hash of each document, and one of each word
    in validation and evaluation, sorted once. Shards of a dataset need less.
    """
    return scaled(4000 + 4 * text_bytes(config) // 10**6, attempt)


def corpus_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of the corpus: its keys in the config and, for docstrings, the versions of the packages."""
    corpus = config["corpus"]
    if is_fetched(config):  # the fetched manifest says which shards, and how much of each
        chosen = {key: corpus[key] for key in ("source", "column", "separator")}
        return settings(**chosen, validation=corpus["fineweb"]["validation"])
    chosen = settings(**{key: value for key, value in corpus.items() if key != "fineweb"})
    if chosen["source"] == "docstrings":
        from oversmoothing.data.harvest import PACKAGES

        chosen["packages"] = {name: version(package).partition("+")[0] for name, package in sorted(PACKAGES.items())}
    return chosen


def identity(config: Mapping[str, Any], text: Mapping[str, str]) -> dict[str, Any]:
    """Return what the manifest of a corpus states: its settings, with the digest of the text in place of its paths."""
    return {key: value for key, value in corpus_settings(config).items() if key != "paths"} | dict(text)


def fetch_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings on which a fetched dataset depends."""
    corpus = config["corpus"]
    fetched = {key: value for key, value in corpus["fineweb"].items() if key != "validation"}
    return settings(**fetched, column=corpus["column"])


def fetched_folder(config: Mapping[str, Any]) -> str:
    """Return the folder of a dataset's files, which the configs that use it share."""
    return f"{config['assets'].rstrip('/')}/{config['corpus']['fineweb']['repository']}"


def bytes_needed(config: Mapping[str, Any]) -> dict[str, int]:
    """Return the minimum number of bytes of each split for training, if there is any, and windows to be possible."""
    blocks = [model.shape["block"] for model in of_type(Trained, by_name(config))]
    window = config["windows"]["prompt"] + config["windows"]["scored"]
    block = max(blocks, default=-1)
    return {"train": block + 1, "validation": block + 1, "evaluation": 2 * config["windows"]["count"] * window}
