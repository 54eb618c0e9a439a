"""Continuations of every window's prompt by one model, under each decoding."""

import logging
from typing import Any

import torch
from tqdm import tqdm

from oversmoothing.data.tokens.vocabulary import read_vocabulary
from oversmoothing.data.windows import read_windows, window_tokens
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import setup
from oversmoothing.models.predictor import head_matrix, load_predictor
from oversmoothing.models.spectra import truncate
from oversmoothing.samples.generate import SAMPLES, generate
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read a model (its head truncated to `params.rank`) and the windows; write one file of samples per decoding.

    A continuation is as long as the window's scored text, which must be equally long in all windows.
    """
    settings, name, rank = job.params.settings, job.wildcards.model, job.params.rank
    compute = setup(job.params.device, settings)
    model = load_predictor(job, compute)
    if rank is not None:
        head = head_matrix(model, name)
        with torch.inference_mode():  # a model of the hub has tensors that are written to in no other mode
            head.copy_(torch.from_numpy(truncate(head.float().cpu().numpy(), rank)))
    if compute.device.type == "cuda":
        # A running sum has no deterministic kernel; in float64 its rounding decides one byte in about 10**13.
        torch.use_deterministic_algorithms(True, warn_only=True)
    table = read_windows(job.input.windows)
    numbers = table["window"].to_pylist()
    prompts, scored = window_tokens(table)
    lengths = set(map(len, scored))
    if len(lengths) != 1:
        raise UserError(
            f"{job.input.windows}: windows score {sorted(lengths)} bytes or tokens; samples have one length"
        )
    (length,) = lengths
    decodings, n = settings["decodings"], len(numbers)
    logger.info("%s: %d samples of %d tokens on %s in %s", name, n, length, *compute)
    total = len(decodings) * n * length
    with tqdm(desc=name, total=total, unit="T", unit_scale=True, disable=None) as progress:
        how: dict[str, Any] = {"seed": settings["seed"], "batch": settings["batch"], "precision": compute.precision}
        how |= {"progress": progress.update, "decode": read_vocabulary(job.input.vocabulary).decode}
        for decoding, path in zip(decodings, job.output, strict=True):
            made_by = provenance({**settings, "decodings": [decoding]}, model=name, rank=rank, **compute.facts)
            with open_writer(path, SAMPLES, made_by) as writer:
                for continuations in generate(model, numbers, prompts, length, decoding, **how):
                    writer.write_batch(continuations)


if __name__ == "__main__":
    run(main)
