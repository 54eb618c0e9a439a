"""Continuations of every window's prompt by one model, under each decoding."""

import torch

from oversmoothing.device import setup
from oversmoothing.jobs import Job, run
from oversmoothing.predictor import load_predictor
from oversmoothing.samples.files import write_samples
from oversmoothing.spectra import truncate
from oversmoothing.tokens.vocabulary import read_vocabulary


def main(job: Job) -> None:
    """Read a model (its head truncated to `params.rank`) and the windows; write one file of samples per decoding."""
    settings = job.params.settings
    compute = setup(job.params.device, settings)
    model = load_predictor(job, compute)
    facts = {"model": job.wildcards.model}
    if hasattr(job.params, "rank"):
        facts["rank"] = job.params.rank
        if job.params.rank is not None:
            head = model.head.weight
            with torch.no_grad():
                head.copy_(torch.from_numpy(truncate(head.float().cpu().numpy(), job.params.rank)))
    vocabulary = getattr(job.input, "vocabulary", None)
    decode = read_vocabulary(vocabulary).decode if vocabulary else bytes
    write_samples(model, job.input.windows, job.output, settings, facts | compute.facts, decode)


if __name__ == "__main__":
    run(main)
