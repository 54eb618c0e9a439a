"""Draw the evaluation windows from the evaluation split."""

import logging

from oversmoothing.data.reader import read_manifest, read_split
from oversmoothing.data.tokens.special import tell_special_names
from oversmoothing.data.tokens.text import passages_of_job
from oversmoothing.data.tokens.vocabulary import load_tokenizer
from oversmoothing.data.windows import STARTED, draw_windows
from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the evaluation split and `params.settings`; write the windows."""
    data = read_split(job.input.evaluation, job.input.manifest, "evaluation")
    if job.input.tokenizer:
        tell_special_names([load_tokenizer(job.input.tokenizer)], data, "the evaluation split")
    windows = draw_windows(data, **job.params.settings, cut=passages_of_job(job, data))
    sha256 = read_manifest(job.input.manifest)["splits"]["evaluation"]["sha256"]
    facts = {"evaluation_sha256": sha256, "starts": windows.schema.metadata[STARTED].decode()}
    write_table(job.output[0], windows, provenance(job.params.settings, **facts))
    logger.info("drew %d windows", len(windows))


if __name__ == "__main__":
    run(main)
