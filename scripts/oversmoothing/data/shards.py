"""Train, validation and evaluation splits of a large corpus of Parquet shards, disjoint by document.

The thesis trains on one shard of FineWeb, validates on the last tenth of its bytes and evaluates on another shard
(section 3). Here the border between train and validation is moved to the next document, and a document that also
occurs in a held-out split is dropped from the others, because FineWeb repeats documents across its crawls.

No document is processed in Python; memory holds only an 8-byte hash of each held-out document. `splits` also excludes
shared runs of words, and takes longer.
"""

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from oversmoothing.data.runs import collect
from oversmoothing.data.texts import Texts, read_texts
from oversmoothing.data.writer import SplitWriter
from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.sealed_json import read_sealed, write_sealed

logger = logging.getLogger(__name__)

ROLES = ("train", "evaluation")  # the lists of shards in the config; validation is the end of train


class Shards(NamedTuple):
    """Shards in order, of which the first `budget` bytes are used, up to the end of a document; None means all."""

    paths: Sequence[Path]
    column: str = "text"
    budget: int | None = None

    def read(self) -> Iterator[tuple[Texts, np.ndarray]]:
        """Yield batches of texts with the int64 offset of each text's first byte, counted over all shards."""
        place = 0
        for path in self.paths:
            for texts in read_texts(path, self.column):
                starts = place + texts.borders[:-1] - texts.borders[0]
                place += int(texts.borders[-1] - texts.borders[0])
                if self.budget is None or place < self.budget:
                    yield texts, starts
                    continue
                count = int(np.searchsorted(starts, self.budget))
                yield Texts(texts.data, texts.borders[: count + 1]), starts[:count]
                return
        if self.budget is not None:
            raise too_little([path.name for path in self.paths], self.budget, place)

    def size(self) -> int:
        """Number of bytes of text that are used."""
        return sum(int(texts.lengths().sum()) for texts, _ in self.read())


def read_fetched(path: str | Path) -> dict[str, Any]:
    """Read the manifest of `fineweb.fetch_shards` as ``fetch_corpus.py`` wrote it; a `UserError` if it is damaged."""
    try:
        manifest = read_sealed(path)
        if missing := sorted({"folder", "files", *ROLES} - manifest.keys()):
            raise ValueError(f"no {missing[0]!r}")
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"{path}: not a manifest of fetched shards ({error}); delete it and run `snakemake assets` again"
        ) from error
    return manifest


def open_shards(manifest: Mapping[str, Any], column: str) -> dict[str, Shards]:
    """Return the shards of each role that `fineweb.fetch_shards` downloaded, after a check against its manifest."""
    folder = Path(manifest["folder"])
    for file, described in manifest["files"].items():
        path = folder / file
        if not path.is_file():
            fault = "is missing"
        elif path.stat().st_size != described["size"]:
            fault = f"has {path.stat().st_size:,} bytes, not {described['size']:,}"
        elif _sha256(path) != described["sha256"]:
            fault = "has changed since it was fetched"
        else:
            continue
        raise UserError(f"{path} {fault}: run `snakemake assets --forcerun fetch_corpus` where the network is")
    return {
        role: Shards([folder / file for file in manifest[role]["texts"]], column, manifest[role]["budget"])
        for role in ROLES
    }


def shard_facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Facts about the shards for the corpus's manifest, without local paths."""
    known = {key: manifest[key] for key in ("repository", "commit", "files", *ROLES)}
    return {"source": "fineweb", **known}


def build_from_shards(
    training: Shards,
    evaluation: Shards,
    paths: Mapping[str, Path],
    manifest: Path,
    *,
    validation: float = 0.1,
    separator: str = "",
    at_least: Mapping[str, int] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write the three splits as raw UTF-8 bytes and a manifest (see `splits.build_splits`); return the manifest.

    Parameters
    ----------
    training : Shards
        Train and validation split; a document across the border belongs to train.
    evaluation : Shards
    paths : mapping of str to Path
        Files of ``train``, ``validation`` and ``evaluation``.
    manifest : Path
    validation : float
        Share of the bytes of `training` for the validation split, between 0 and 1; 0.1 in the thesis.
    separator : str
        Text between two documents; none in the thesis.
    at_least : mapping of str to int, optional
        Smallest size of each split in bytes.
    facts : mapping, optional
        Origin of the shards, for the manifest.

    Raises
    ------
    UserError
        If a shard cannot be read, a budget exceeds the shards, or a split is too small.
    """
    total = training.size()
    border = round((1 - validation) * total)
    parts: dict[str, Any] = {}
    known = np.zeros(0, np.uint64)
    with ExitStack() as stack:
        # Entered first and therefore renamed last: a manifest never exists beside splits that it does not describe.
        temporary_manifest = stack.enter_context(atomic_path(manifest))
        for split, shards, first, end in (
            ("evaluation", evaluation, 0, None),
            ("validation", training, border, None),
            ("train", training, 0, border),
        ):
            writer = SplitWriter(stack, stack.enter_context(atomic_path(paths[split])), separator.encode())
            dropped = {"empty": 0, "duplicates": 0}
            kept: list[np.ndarray] = []
            with tqdm(desc=split, unit="B", unit_scale=True, disable=None) as bar:
                for texts, starts in shards.read():
                    mine = (starts >= first) & (starts < end if end is not None else True)
                    empty = texts.lengths() == 0
                    hashes = texts.hashes()
                    repeated = _known(hashes, known) & ~empty
                    keep = mine & ~empty & ~repeated
                    if keep.any():
                        writer.write(texts.join(keep, separator.encode()).data, int(keep.sum()))
                    dropped["empty"] += int((mine & empty).sum())
                    dropped["duplicates"] += int((mine & repeated).sum())
                    if split != "train":
                        kept.append(hashes[keep])
                    bar.update(int(texts.lengths().sum()))
            known = collect([known, *kept])
            parts[split] = {**writer.close(), "dropped": dropped}
            _check_size(split, parts[split], max(1, (at_least or {}).get(split, 1)))
            logger.info("%s: %s", split, parts[split])
        contents = {
            "source": dict(facts or {}),
            "settings": {"validation": validation, "separator": separator},
            "splits": parts,
        }
        write_sealed(temporary_manifest, contents)
    return contents


def too_little(files: Sequence[str], budget: int, size: int) -> UserError:
    """Return the error for files with less text than the budget."""
    return UserError(
        f"corpus.fineweb: a budget of {budget:,} bytes, but {', '.join(files)} hold {size:,} bytes of text: "
        "name more shards, lower the budget, or write null to take them whole"
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _known(hashes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Mask of the hashes that are in the sorted array `known`."""
    if not len(known):
        return np.zeros(len(hashes), bool)
    places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    return known[places] == hashes


def _check_size(split: str, part: Mapping[str, Any], least: int) -> None:
    if part["bytes"] < least:
        key = "evaluation" if split == "evaluation" else "train"
        raise UserError(
            f"the {split} split has {part['bytes']:,} bytes in {part['documents']:,} documents, and {least:,} are "
            f"needed: name more shards in corpus fineweb {key}, or raise its budget"
        )
