"""Continuations of every window's prompt by one model, under each decoding."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from oversmoothing.data.byte_names import Decode
from oversmoothing.data.tokens.vocabulary import read_vocabulary
from oversmoothing.data.windows import read_windows, window_tokens
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import setup
from oversmoothing.models.predictor import Predictor, head_matrix, load_predictor
from oversmoothing.models.spectra import truncate
from oversmoothing.samples.generate import SAMPLES, generate
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read a model (its head truncated to `params.rank`) and the windows; write one file of samples per decoding."""
    settings = job.params.settings
    compute = setup(job.params.device, settings)
    model = load_predictor(job, compute)
    rank = job.params.rank
    if rank is not None:
        head = head_matrix(model, job.wildcards.model)
        with torch.inference_mode():  # a model of the hub has tensors that are written to in no other mode
            head.copy_(torch.from_numpy(truncate(head.float().cpu().numpy(), rank)))
    facts = {"model": job.wildcards.model, "rank": rank, **compute.facts}
    write_samples(model, job.input.windows, job.output, settings, facts, read_vocabulary(job.input.vocabulary).decode)


def write_samples(
    model: Predictor,
    windows: str | Path,
    paths: Sequence[str],
    settings: Mapping[str, Any],
    facts: Mapping[str, Any],
    decode: Decode,
) -> None:
    """Sample a continuation of every window's prompt, as long as its scored text, and write one file per decoding.

    `settings` has ``decodings``, of which `paths` are the files, ``seed`` and ``batch`` (see `generate`); `facts`,
    their metadata, the ``model``, its ``precision`` and ``device``; `decode` makes text, in bytes, of tokens. A
    `UserError` is raised if the windows have scored texts of different lengths, and as by `generate`.
    """
    if model.head.weight.device.type == "cuda":
        # A running sum has no deterministic kernel; in float64 its rounding decides one byte in about 10**13.
        torch.use_deterministic_algorithms(True, warn_only=True)
    table = read_windows(windows)
    numbers = table["window"].to_pylist()
    prompts, scored = window_tokens(table)
    lengths = set(map(len, scored))
    if len(lengths) != 1:
        raise UserError(f"{windows}: windows score {sorted(lengths)} bytes or tokens; samples have one length")
    (length,) = lengths
    decodings, n = settings["decodings"], len(numbers)
    run_on = facts["model"], n, length, facts["device"], facts["precision"]
    logger.info("%s: %d samples of %d tokens on %s in %s", *run_on)
    total = len(decodings) * n * length
    with tqdm(desc=facts["model"], total=total, unit="T", unit_scale=True, disable=None) as progress:
        how: dict[str, Any] = {"seed": settings["seed"], "batch": settings["batch"], "precision": facts["precision"]}
        how |= {"progress": progress.update, "decode": decode}
        for decoding, path in zip(decodings, paths, strict=True):
            made_by = provenance({**settings, "decodings": [decoding]}, **facts)
            with open_writer(path, SAMPLES, made_by) as writer:
                for continuations in generate(model, numbers, prompts, length, decoding, **how):
                    writer.write_batch(continuations)


if __name__ == "__main__":
    run(main)
