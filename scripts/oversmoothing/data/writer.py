"""Writer of a split as raw bytes, which counts and hashes them."""

import hashlib
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO


class SplitWriter:
    """Writes documents with a separator between them; `stack` closes the file."""

    def __init__(self, stack: ExitStack, path: Path, separator: bytes) -> None:
        self.file: BinaryIO = stack.enter_context(path.open("wb"))
        self.separator = separator
        self.digest = hashlib.sha256()
        self.documents = 0
        self.bytes = 0

    def write(self, data: bytes | memoryview, documents: int) -> None:
        """Append documents that are already joined by the separator, without one before the first."""
        for part in (self.separator, data) if self.documents and self.separator else (data,):
            self.file.write(part)
            self.digest.update(part)
            self.bytes += len(part)
        self.documents += documents

    def close(self) -> dict[str, Any]:
        """Close the split and return its entry in the manifest."""
        self.file.close()
        return {"documents": self.documents, "bytes": self.bytes, "sha256": self.digest.hexdigest()}
