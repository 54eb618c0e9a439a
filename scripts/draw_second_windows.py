"""Draw a second set of windows, none of which overlaps the first: the human floor of the quality metrics."""

import logging
from typing import TYPE_CHECKING

from oversmoothing.corpus.reader import read_manifest, read_split, verify
from oversmoothing.corpus.windows import draw_windows
from oversmoothing.jobs import run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

logger = logging.getLogger(__name__)


def main(job: "Snakemake") -> None:
    """Read the evaluation split and `params.settings`, those of the first set; write as many windows more."""
    settings = job.params.settings
    manifest = read_manifest(job.input.manifest)
    part = manifest["splits"]["evaluation"]
    verify(job.input.evaluation, part)
    # The first half of twice as many windows is the first set.
    both = draw_windows(read_split(job.input.evaluation), **{**settings, "count": 2 * settings["count"]})
    second = both.slice(settings["count"])
    write_table(job.output[0], second, provenance(settings, evaluation_sha256=part["sha256"]))
    logger.info("drew %d windows", len(second))


if __name__ == "__main__":
    run(main, snakemake)
