"""Continuations of every window's prompt by one model, under each decoding."""

import torch

from oversmoothing.data.tokens.vocabulary import read_vocabulary
from oversmoothing.jobs import Job, run
from oversmoothing.models.device import setup
from oversmoothing.models.predictor import head_matrix, load_predictor
from oversmoothing.models.spectra import truncate
from oversmoothing.samples.files import write_samples


def main(job: Job) -> None:
    """Read a model (its head truncated to `params.rank`) and the windows; write one file of samples per decoding."""
    settings = job.params.settings
    compute = setup(job.params.device, settings)
    model = load_predictor(job, compute)
    rank = job.params.rank
    if rank is not None:
        head = head_matrix(model, job.wildcards.model)
        with torch.no_grad():
            head.copy_(torch.from_numpy(truncate(head.float().cpu().numpy(), rank)))
    facts = {"model": job.wildcards.model, "rank": rank, **compute.facts}
    write_samples(model, job.input.windows, job.output, settings, facts, read_vocabulary(job.input.vocabulary).decode)


if __name__ == "__main__":
    run(main)
