"""Writer of a split as raw bytes, which counts and hashes them."""

import hashlib
import logging
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path

logger = logging.getLogger(__name__)


class SplitWriter:
    """Writes documents with a separator between them; the file appears under `path` when `stack` is closed."""

    def __init__(self, stack: ExitStack, split: str, path: Path, separator: str) -> None:
        self.file = stack.enter_context(stack.enter_context(atomic_path(path)).open("wb"))
        self.split = split
        self.separator = separator.encode()
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

    def close(self, dropped: dict[str, int]) -> dict[str, Any]:
        """Close the split and return its entry in the manifest."""
        self.file.close()
        counts = {"documents": self.documents, "bytes": self.bytes, "sha256": self.digest.hexdigest()}
        logger.info("%s: %s", self.split, entry := {**counts, "dropped": dropped})
        return entry

    def too_small(self, least: int, remedy: str) -> UserError:
        """Return the error for a split with fewer bytes than are needed."""
        size = f"{self.bytes:,} bytes in {self.documents:,} documents"
        return UserError(f"the {self.split} split has {size}, and {least:,} are needed: {remedy}")
