"""Which weights were really read, from the manifest of fetched files."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from oversmoothing.store.provenance import digest

ORIGIN = (
    pa.field("read", pa.string()),  # the revision, or null for a folder of the user's own
    pa.field("commit", pa.string()),  # of the hub; null for a folder
    pa.field("instead_of", pa.string()),  # the revision asked for, where another was read
    pa.field("weights", pa.string()),  # SHA-256 over those of the files of weights
)


def origin(manifest: Mapping[str, Any]) -> dict[str, str | None]:
    """Say which revision a manifest is of, and what its weights are (see `oversmoothing.hub.fetch`).

    Two revisions with the same ``weights`` hold the same numbers, whatever step their names say.
    """
    sums = {path: facts["sha256"] for path, facts in manifest["files"].items() if path.endswith(".safetensors")}
    return {
        "read": manifest.get("revision"),
        "commit": manifest.get("commit"),
        "instead_of": manifest.get("instead_of"),
        "weights": digest(sums),
    }
