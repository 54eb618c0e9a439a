"""Contents of the user's files, as parameters of the rules that read them.

Snakemake detects a change by modification time, so it misses a replacement that is older or keeps the time. Rules
therefore carry the size and the digest of the files that they read. A digest is computed once and stored with
properties that no write preserves: even a copy that keeps the modification time changes `ctime`.
"""

import contextlib
import hashlib
import time
from collections.abc import Iterable
from pathlib import Path

from tqdm import tqdm

from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import read_sealed, write_sealed

KEPT = Path(".snakemake/contents.json")
SETTLED = 2_000_000_000  # nanoseconds: a younger file may change again within one tick of its clock
LONG = 1_000_000_000  # bytes: a digest of more takes longer than a few seconds


def contents(files: Iterable[str | Path], what: str = "text") -> dict[str, str]:
    """Return the size and SHA-256 of each file that exists, by its path.

    A bar says `what` is checked if that takes long.
    """
    known = _read_kept()
    now, stats = time.time_ns(), {str(file): Path(file).stat() for file in files if Path(file).is_file()}
    keys = {
        file: [stat.st_size, stat.st_mtime_ns, stat.st_ino, stat.st_ctime_ns] for file, stat in sorted(stats.items())
    }
    found, new = {}, {}
    size = sum(key[0] for file, key in keys.items() if known.get(str(Path(file).absolute()), [])[:-1] != key)
    with tqdm(total=size, unit="B", unit_scale=True, desc=f"checking {what}", disable=size < LONG) as progress:
        for file, key in keys.items():
            place = str(Path(file).absolute())
            *kept, digest = known.get(place, [None])
            if kept != key:
                with Path(file).open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
                progress.update(key[0])
                if now - key[-1] > SETTLED:
                    new[place] = [*key, digest]
            found[file] = f"{key[0]} bytes, sha256 {digest}"
    if new:
        with contextlib.suppress(OSError, UserError):  # where nothing can be written, each plan computes them again
            write_sealed(KEPT, _read_kept() | new)
    return found


def _read_kept() -> dict[str, list]:
    """Return the entries of the store; of a store that is missing or damaged, none."""
    with contextlib.suppress(OSError, UserError, ValueError, RecursionError):
        return {place: entry for place, entry in read_sealed(KEPT).items() if _is_entry(entry)}
    return {}


def _is_entry(entry: object) -> bool:
    return isinstance(entry, list) and list(map(type, entry)) == [int, int, int, int, str]
