"""The checksum of a file, computed once for as long as the file stays the same.

With every output of a finished job, Snakemake records the SHA-256 of each input, and it reads the input each time. One
family's logits are inputs of a dozen rules with several outputs each, so that reading them again took more processor
time than everything else that Snakemake's own process does. Snakemake 9.27 has no public way to keep them: its cache of
files is off while jobs run.
"""

from functools import wraps
from pathlib import Path
from typing import Any

from snakemake.io import _IOFile


def compute_once() -> None:
    """Make Snakemake remember checksums; a file that changes in any way gets a new one."""
    compute = getattr(_IOFile.checksum, "__wrapped__", _IOFile.checksum)
    known: dict[tuple[Any, ...], str | None] = {}

    @wraps(compute)
    async def checksum(file: _IOFile, *arguments: Any, **options: Any) -> str | None:
        try:
            status = Path(file.file).stat()
        except OSError:  # missing, or not on this machine
            return await compute(file, *arguments, **options)
        key = (
            (str(Path(file.file).absolute()), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns),
            (arguments, tuple(sorted(options.items()))),
        )
        if key not in known:
            known[key] = await compute(file, *arguments, **options)
        return known[key]

    _IOFile.checksum = checksum
