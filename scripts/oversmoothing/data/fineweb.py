"""Download of FineWeb, or of another corpus of Parquet shards on the hub: whole shards, or their first texts.

Only this step needs the network. It writes a manifest of the local files, from which `shards` builds the corpus.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from oversmoothing.data.shards import ROLES, too_little
from oversmoothing.hub.client import alone_in, fetch, take_stock
from oversmoothing.hub.listing import Repository, asking, list_files, resolve
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import digest, sha256
from oversmoothing.store.seal import check, sealed_with

logger = logging.getLogger(__name__)

ROWS = 1000  # streamed at a time


def fetch_shards(settings: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Download the shards of a corpus; whole ones into the hub's cache, to which links in a folder lead.

    The settings are those of `corpus.fineweb`, and ``column``. A ``repository`` that begins with ``/``, ``.`` or ``~``
    is a local folder with the same paths inside, which is used in place.

    Returned is a manifest as from `hub.client.fetch`, and for each role its ``shards``, the paths in the folder of
    their ``texts``, and the ``budget`` in bytes.
    """
    if settings["repository"].startswith(("/", ".", "~")):
        local, wanted = Path(settings["repository"]).expanduser(), [file for role in ROLES for file in settings[role]]
        described = {"repository": local.name, "revision": None, "commit": None}
        return {**described, **take_stock(local, wanted, wanted), **_roles(settings)}
    named = Repository(settings["repository"], settings["revision"], "dataset")
    repository = replace(named, revision=resolve(named))
    roles, first = _roles(settings), {}
    whole = [file for role in ROLES for file in settings[role] if settings[f"{role}_bytes"] is None]
    for role in ROLES:
        budget = settings[f"{role}_bytes"]
        if budget is not None:
            key = digest([repository.revision, settings[role], settings["column"]])[:12]
            name = f"first-bytes/{key}-{budget}.parquet"
            path = Path(folder) / name
            with alone_in(folder):
                if not _is_sealed(path):
                    stream_texts(repository, settings[role], settings["column"], budget, path)
            first[name] = {"size": path.stat().st_size, "sha256": sha256(path)}
            roles[role]["texts"] = [name]
    fetched = fetch(repository, whole) if whole else {"files": {}}
    with alone_in(folder):
        for file in whole:
            link = Path(folder) / file
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(Path(fetched["folder"]) / file)
    described = {"repository": named.name, "kind": "dataset", "revision": named.revision, "commit": repository.revision}
    return {**described, "folder": str(folder), "files": fetched["files"] | first, **roles}


def stream_texts(repository: Repository, files: Sequence[str], column: str, budget: int, path: Path) -> None:
    """Write the first `budget` bytes of text of Parquet files on the hub, up to the end of a document.

    Only this column of the required row groups is transferred. A partial download cannot be compared with the whole
    file's checksum and restarts after an interruption; `path` appears when it is complete.
    """
    import datasets  # takes seconds to import and is needed only for a budget

    list_files(repository, repository.revision, files, needed=files)
    sources = [f"hf://datasets/{repository.name}@{repository.revision}/{file}" for file in files]
    schema = pa.schema([pa.field(column, pa.large_string())])
    facts = {"repository": str(repository), "files": " ".join(files), "budget": str(budget)}
    taken = 0
    with (
        asking(repository),
        open_writer(path, schema, facts) as writer,
        tqdm(desc=path.name, total=budget, unit="B", unit_scale=True, disable=None) as bar,
    ):
        stream = datasets.load_dataset("parquet", data_files=sources, split="train", streaming=True, columns=[column])
        for batch in stream.with_format("arrow").iter(batch_size=ROWS):
            texts = batch.column(column).cast(pa.large_string()).combine_chunks()
            ends = taken + np.cumsum(pc.fill_null(pc.binary_length(texts), 0).to_numpy())
            count = min(len(texts), int(np.searchsorted(ends, budget)) + 1)
            writer.write_table(pa.table([texts[:count]], schema))
            bar.update(int(ends[count - 1]) - taken)
            taken = int(ends[count - 1])
            if taken >= budget:
                return
        raise too_little(files, budget, taken)


def _is_sealed(path: Path) -> bool:
    """Return whether a file is here, whole and as it was written; one that was cut off has no seal."""
    try:
        check(path)
    except UserError as error:
        logger.warning("%s", error)
        return False
    return path.is_file() and bool(sealed_with(path))


def _roles(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        role: {"shards": settings[role], "texts": settings[role], "budget": settings[f"{role}_bytes"]} for role in ROLES
    }
