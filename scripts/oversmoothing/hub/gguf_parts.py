"""Models in several GGUF files beside each other, as llama.cpp splits them: NAME-00001-of-00003.gguf and so on."""

import hashlib
import re
from pathlib import Path

from oversmoothing.store.provenance import sha256

PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")


def parts_of(path: str | Path) -> list[Path]:
    """Return the files of the model of which a file is a part, by its name; of any other file, itself."""
    path = Path(path)
    if not (named := PART.fullmatch(path.name)):
        return [path]
    parts = [path.with_name(f"{named[1]}-{number:05}-of-{named[3]}.gguf") for number in range(1, int(named[3]) + 1)]
    return parts if path in parts else [path]


def digest(path: str | Path) -> str:
    """Return the SHA-256 of a file, or, of a part, that of the sums of all parts."""
    parts = parts_of(path)
    if len(parts) == 1:
        return sha256(parts[0])
    return hashlib.sha256("".join(map(sha256, parts)).encode()).hexdigest()
