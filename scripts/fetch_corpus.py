"""Fetch the shards of a corpus from the hub; write a manifest of their locations."""

import logging

from oversmoothing.data.fineweb import fetch_shards
from oversmoothing.jobs import Job, run
from oversmoothing.store.sealed_json import write_sealed

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read `params.settings` and `params.folder`; write the manifest."""
    manifest = fetch_shards(job.params.settings, job.params.folder)
    for file, described in manifest["files"].items():
        logger.info("%s/%s: %d bytes, sha256 %s", manifest["folder"], file, described["size"], described["sha256"])
    write_sealed(job.output[0], manifest)


if __name__ == "__main__":
    run(main)
