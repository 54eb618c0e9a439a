"""Which weights were actually read, from the manifest of fetched files."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from oversmoothing.store.provenance import digest

ORIGIN = (
    pa.field("read", pa.string()),  # the revision; null for a user's folder
    pa.field("commit", pa.string()),  # on the hub; null for a folder
    pa.field("instead_of", pa.string()),  # the revision asked for, if another was read
    pa.field("weights", pa.string()),  # SHA-256 over those of the weight files
)


def origin(manifest: Mapping[str, Any]) -> dict[str, str | None]:
    """Return which revision a manifest describes, and a digest of its weights (see `oversmoothing.hub.client.fetch`).

    Two revisions with the same ``weights`` hold the same numbers, whatever steps their names state.
    """
    sums = {path: facts["sha256"] for path, facts in manifest["files"].items() if path.endswith(".safetensors")}
    return {
        "read": manifest.get("revision"),
        "commit": manifest.get("commit"),
        "instead_of": manifest.get("instead_of"),
        "weights": digest(sums),
    }
