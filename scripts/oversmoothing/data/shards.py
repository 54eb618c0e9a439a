"""Train, validation and evaluation splits of a large corpus of Parquet shards, disjoint by document.

The thesis trains on one shard of FineWeb, validates on the last tenth of its bytes and evaluates on another shard
(section 3). Here the border between train and validation is moved to the next document, and a document that also
occurs in a held-out split is dropped from the others, because FineWeb repeats documents across its crawls.

Memory holds only an 8-byte hash of each held-out document. `splits` also excludes shared runs of words, and takes
longer.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from oversmoothing.data.columnar import text_batches
from oversmoothing.data.runs import collect, is_known
from oversmoothing.data.writer import SplitWriter
from oversmoothing.hub.manifest import check_files, read_asset
from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.sealed_json import write_sealed

ROLES = ("train", "evaluation")  # the lists of shards in the config; validation is the end of train


class Shards(NamedTuple):
    """Shards in order, of which the first `budget` bytes are used, up to the end of a document; None means all."""

    paths: Sequence[Path]
    column: str = "text"
    budget: int | None = None

    def read(self) -> Iterator[tuple[pa.LargeStringArray, np.ndarray]]:
        """Yield batches of texts, "" for a null, with the end of each in bytes, int64, counted over all shards."""
        place = 0
        for path in self.paths:
            for batch in text_batches(path, self.column):
                texts = batch.fill_null("")
                ends = place + np.cumsum(pc.binary_length(texts).to_numpy())
                place = int(ends[-1])
                if self.budget is None or place < self.budget:
                    yield texts, ends
                    continue
                count = int(np.searchsorted(ends, self.budget)) + 1
                yield texts[:count], ends[:count]
                return
        if self.budget is not None:
            raise too_little([path.name for path in self.paths], self.budget, place)

    def size(self) -> int:
        """Return the number of bytes of text that are used."""
        return max((int(ends[-1]) for _, ends in self.read()), default=0)


def read_fetched(path: str | Path) -> dict[str, Any]:
    """Read the manifest of `fineweb.fetch_shards` as ``fetch_corpus.py`` wrote it."""
    manifest = read_asset(path)
    if missing := sorted({"folder", *ROLES} - manifest.keys()):
        raise UserError(f"{path}: not a manifest of fetched shards (no {missing[0]!r}); delete it and run again")
    return manifest


def open_shards(manifest: Mapping[str, Any], column: str) -> dict[str, Shards]:
    """Return the shards of each role that `fineweb.fetch_shards` downloaded, after a check against its manifest."""
    folder = Path(manifest["folder"])
    check_files(folder, manifest["files"], "run `snakemake assets --forcerun fetch_corpus` where the network is")
    return {
        role: Shards([folder / file for file in manifest[role]["texts"]], column, manifest[role]["budget"])
        for role in ROLES
    }


def shard_facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts about the shards for the corpus's manifest, without local paths."""
    return {"source": "fineweb"} | {key: manifest[key] for key in ("repository", "commit", "files", *ROLES)}


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

    `validation` is the share of the bytes of `training`, between 0 and 1, at its end; a document across the border
    belongs to train. `facts` say where the shards are from. A `UserError` names a shard that cannot be read, a budget
    above the shards, or a split of fewer bytes than `at_least` says.
    """
    border = round((1 - validation) * training.size())
    parts: dict[str, Any] = {}
    known = np.zeros(0, np.uint64)
    with ExitStack() as stack:
        # Entered first and therefore renamed last: a manifest never exists beside splits that it does not describe.
        temporary_manifest = stack.enter_context(atomic_path(manifest))
        for split, shards, first, end in (
            ("evaluation", evaluation, 0, np.inf),
            ("validation", training, border, np.inf),
            ("train", training, 0, border),
        ):
            writer = SplitWriter(stack, split, paths[split], separator)
            dropped = {"empty": 0, "duplicates": 0}
            kept: list[np.ndarray] = []
            with tqdm(desc=split, unit="B", unit_scale=True, disable=None) as bar:
                for texts, ends in shards.read():
                    lengths = pc.binary_length(texts).to_numpy()
                    starts, empty = ends - lengths, lengths == 0
                    mine = (starts >= first) & (starts < end)
                    hashes = text_hashes(texts)
                    repeated = is_known(hashes, known) & ~empty
                    keep = mine & ~empty & ~repeated
                    if keep.any():
                        writer.write(joined(texts.filter(pa.array(keep)), separator), int(keep.sum()))
                    dropped["empty"] += int((mine & empty).sum())
                    dropped["duplicates"] += int((mine & repeated).sum())
                    if split != "train":
                        kept.append(hashes[keep])
                    bar.update(int(lengths.sum()))
            known = collect([known, *kept])
            least = max(1, (at_least or {}).get(split, 1))
            if writer.bytes < least:
                key = "evaluation" if split == "evaluation" else "train"
                raise writer.too_small(least, f"name more shards in corpus fineweb {key}, or raise its budget")
            parts[split] = writer.close(dropped)
        settings = {"validation": validation, "separator": separator}
        contents = {"source": dict(facts or {}), "settings": settings, "splits": parts}
        write_sealed(temporary_manifest, contents, manifest)
    return contents


def text_hashes(texts: pa.LargeStringArray) -> np.ndarray:
    """Return the 64-bit hash of each text, uint64 (n,)."""
    digests = (blake2b(text, digest_size=8).digest() for text in texts.cast(pa.large_binary()).to_pylist())
    return np.frombuffer(b"".join(digests), np.uint64)


def joined(texts: pa.LargeStringArray, separator: str = "") -> memoryview:
    """Return the UTF-8 of some texts, without a Python object for each."""
    together = pa.LargeListArray.from_arrays([0, len(texts)], texts)
    return memoryview(pc.binary_join(together, pa.scalar(separator, texts.type))[0].as_buffer())


def too_little(files: Sequence[str], budget: int, size: int) -> UserError:
    """Return the error for files with less text than the budget."""
    return UserError(
        f"corpus.fineweb: a budget of {budget:,} bytes, but {', '.join(files)} hold {size:,} bytes of text: "
        "name more shards, lower the budget, or write null to take them whole"
    )
