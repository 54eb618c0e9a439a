"""Train, validation and evaluation splits of a source of documents, without text in common.

A hash of a document's text alone determines its split, so neither the order of the source nor its other documents
move it to another one. The held-out splits are written first, and a document of a later split that shares a run of
words with an earlier split is dropped. The evaluation text thus keeps the distribution of the source, and memory holds
only the runs of the held-out splits.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from oversmoothing.data.documents import PARAGRAPHS, Source
from oversmoothing.data.notes import tell
from oversmoothing.data.runs import collect, is_known, run_hashes
from oversmoothing.data.writer import SplitWriter
from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.sealed_json import write_sealed

# Characters of the list of files in a manifest. Snakemake compares inputs above 1 MB by time, not by content, so that a
# long list would retrain every model after an identical rebuild.
LISTED = 400_000
# In the order of writing: where two splits overlap, the document of the later one is dropped.
SPLITS = ("evaluation", "validation", "train")

FEW = 50  # files, up to which each is named, and expected in every split
NAMED = 5  # of those that are in one split alone

Held = Mapping[str, Counter[str]]  # by split: bytes of each file


def build_splits(
    source: Source,
    paths: Mapping[str, Path],
    manifest: Path,
    *,
    shares: Mapping[str, float],
    separator: str = "\n\n",
    overlap_words: int | None = 13,
    at_least: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Write the three splits of a source as raw UTF-8 bytes and a manifest of them; return the manifest.

    The source is read once for each split. All files are replaced together at the end, none after an error.

    `shares` of the documents have the sum 1; a split without a share is empty. The manifest has the source's facts, the
    settings and, for each split, its documents, bytes, sha256 and the numbers of dropped documents by reason. Of some
    thousands of files or more there is, in place of the list, their number, sums and ``sha256``, that of the list. The
    thesis uses no separator; a blank line makes the border visible to a model. No two splits share runs of
    `overlap_words` words; None keeps overlaps. The user is told what each split holds of each file. A `UserError` is
    raised if a split has fewer bytes than `at_least` says.
    """
    bounds = split_bounds(shares)
    parts: dict[str, Any] = {}
    held: dict[str, Counter[str]] = {split: Counter() for split in SPLITS if shares[split]}
    known = collect([])
    total: int | None = None
    with ExitStack() as stack:
        # Entered first and therefore renamed last: a manifest never exists beside splits that it does not describe.
        temporary_manifest = stack.enter_context(atomic_path(manifest))
        for split in SPLITS:
            writer = SplitWriter(stack, split, paths[split], separator)
            dropped = dict.fromkeys(("empty", "duplicates", "overlaps"), 0)
            seen: set[bytes] = set()
            kept: list[np.ndarray] = []  # hashes of the runs that no later split may have
            count = size = 0
            documents = source if shares[split] else ()
            for document in tqdm(documents, desc=split, total=total, unit="document", disable=None):
                count += 1
                encoded = document.text.encode()
                size += len(encoded)
                digest = hashlib.blake2b(encoded, digest_size=16).digest()
                if _split_of(digest, bounds) != split:
                    continue
                if not document.text.strip():
                    dropped["empty"] += 1
                elif digest in seen:
                    dropped["duplicates"] += 1
                elif overlap_words and is_known(np.sort(runs := run_hashes(document.text, overlap_words)), known).any():
                    dropped["overlaps"] += 1
                else:
                    writer.write(encoded, documents=1)
                    if document.file:
                        held[split][document.file] += len(encoded)
                    if overlap_words and split != SPLITS[-1]:
                        kept.append(runs)
                seen.add(digest)
            total = count if shares[split] else total or 0
            if total < min(2, len(held)):
                only = f"one document, which cannot be split: cut it, {_cutting(source)}" if total else "empty"
                raise UserError(f"the corpus of source {source.facts()['source']!r} is {only}{_without_text(source)}")
            known = collect([known, *kept])
            least = max(1 if shares[split] else 0, (at_least or {}).get(split, 0))
            if writer.bytes < least:
                remedy = f"the corpus has enough text, but in only {total:,} documents: cut them, {_cutting(source)}"
                if least > shares[split] * size or any(dropped.values()):
                    lost = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
                    remedy = f"raise its share in corpus splits (now {shares[split]:g}), or give the corpus more text "
                    if shares[split] == 1:
                        remedy = "give more text, or lower --windows, --prompt or --scored (of a config: in windows) "
                    remedy += f"(dropped: {lost}){_without_text(source)}"
                raise writer.too_small(least, remedy)
            parts[split] = writer.close(dropped)
        settings = {
            "shares": {split: float(shares[split]) for split in SPLITS},
            "separator": separator,
            "overlap_words": overlap_words,
        }
        contents = {"source": _shortened(source.facts()), "settings": settings, "splits": parts}
        write_sealed(temporary_manifest, contents, manifest)
    tell(held_lines(held, _cutting(source)))
    return contents


def split_bounds(shares: Mapping[str, float]) -> dict[str, float]:
    """Return the upper bound of each split's share of [0, 1), in the order of `SPLITS`."""
    ends = np.cumsum([shares[split] for split in SPLITS])
    return {split: float(end) for split, end in zip(SPLITS, ends, strict=True)}


def _shortened(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts with sums and a digest in place of a list of files above `LISTED`."""
    files = facts.get("files")
    text = json.dumps(files, sort_keys=True)
    if not isinstance(files, list) or len(text) <= LISTED:
        return facts
    keys = dict.fromkeys(("bytes", "documents", "nulls", *chain.from_iterable(files)))
    sums = {key: sum(file.get(key, 0) for file in files) for key in keys if key != "name"}
    return {**facts, "files": {"count": len(files), **sums, "sha256": hashlib.sha256(text.encode()).hexdigest()}}


def _split_of(digest: bytes, bounds: Mapping[str, float]) -> str:
    place = int.from_bytes(digest[:8], "big") / 2**64
    return next((split for split, end in bounds.items() if place < end), SPLITS[-1])


def _without_text(source: Source) -> str:
    """Name the source's files that hold no text, if there are any."""
    listed = source.facts().get("files")  # of docstrings only their number
    files = [file for file in listed if file.get("bytes") == 0] if isinstance(listed, list) else []
    named = ", ".join(file["name"] for file in files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")
    return f"; {named} {'holds' if len(files) == 1 else 'hold'} no text" if files else ""


def _cutting(source: Source) -> str:
    """Say how the documents of a source can be cut, or cut smaller."""
    cut = source.facts().get("cut")
    if cut is None:
        return (
            "with corpus cut: paragraphs (at blank lines), a number of characters, or {text: what stands between them}"
        )
    return f"with corpus cut: {'a' if cut == PARAGRAPHS else 'a smaller'} number of characters (now {cut})"


def held_lines(held: Held, cutting: str) -> list[str]:
    """Return a line for each split, and one for files that are in one split alone; none without files.

    `held` has the splits that may have text. `cutting` says how the documents can be cut smaller.
    """
    files = set(chain.from_iterable(held.values()))
    if not files:
        return []
    lines = [f"{split}: {_listed(of_split)}" for split, of_split in held.items()]
    homes = {file: [split for split, of_split in held.items() if file in of_split] for file in sorted(files)}
    alone = [file for file, splits in homes.items() if len(splits) == 1]
    if alone and len(held) > 1 and 1 < len(files) <= FEW:
        where = {splits[0] for splits in homes.values() if len(splits) == 1}
        of_many = f"{where.pop()} alone" if len(where) == 1 else "one split alone"
        verb = "is" if len(alone) == 1 else "are"
        lines.append(
            f"Note: {_named(alone)} {verb} in {of_many}, so the splits hold different texts; give more text, or cut it "
            f"{cutting}"
        )
    return lines


def _listed(of_split: Counter[str]) -> str:
    if len(of_split) > FEW:
        return f"{sum(of_split.values()):,} bytes of {len(of_split):,} files"
    return ", ".join(f"{size:,} bytes of {file}" for file, size in sorted(of_split.items())) or "nothing"


def _named(files: list[str]) -> str:
    return ", ".join(files[:NAMED]) + (f" and {len(files) - NAMED:,} more" if len(files) > NAMED else "")
