"""Draw a second set of windows, which overlaps none of the first: how far people's texts are from each other."""

import logging

from oversmoothing.data.reader import read_manifest, read_split
from oversmoothing.data.tokens.text import passages_of_job
from oversmoothing.data.windows import STARTED, draw_windows
from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the evaluation split and `params.settings` (those of the first set); write as many further windows."""
    settings = job.params.settings
    data = read_split(job.input.evaluation, job.input.manifest, "evaluation")
    cut = passages_of_job(job, data)
    start = draw_windows(data, **settings, cut=cut).schema.metadata[STARTED].decode()
    # Of twice as many windows that start in the same way, the first half is the first set.
    both = {**settings, "count": 2 * settings["count"]}
    second = draw_windows(data, **both, cut=cut, starts=[start]).slice(settings["count"])
    sha256 = read_manifest(job.input.manifest)["splits"]["evaluation"]["sha256"]
    write_table(job.output[0], second, provenance(settings, evaluation_sha256=sha256, starts=start))
    logger.info("drew %d windows", len(second))


if __name__ == "__main__":
    run(main)
