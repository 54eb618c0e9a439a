"""Let one model continue the prompt of every window, under each decoding."""

import logging
from typing import TYPE_CHECKING

import torch
from tqdm import tqdm

from oversmoothing.device import choose_device, choose_precision, make_deterministic
from oversmoothing.jobs import UserError, run
from oversmoothing.sampling.generate import SAMPLES, generate
from oversmoothing.spectra import read_head, truncate
from oversmoothing.store.parquet import open_writer, read_table
from oversmoothing.store.provenance import provenance
from oversmoothing.weights import load_model

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

logger = logging.getLogger(__name__)


def main(job: "Snakemake") -> None:
    """Read weights and windows; write one file of samples for each decoding."""
    settings, rank = job.params.settings, job.params.rank
    device = choose_device(job.params.device)
    precision = choose_precision(settings["precision"], device)
    make_deterministic(device, settings["threads"])
    if device.type == "cuda":
        # A running sum has no deterministic kernel; in float64 its rounding decides one byte in about 10**13.
        torch.use_deterministic_algorithms(True, warn_only=True)
    model = load_model(job.input.weights, device)
    if rank is not None:
        with torch.no_grad():
            model.head.weight.copy_(torch.from_numpy(truncate(read_head(job.input.weights), rank)))
    columns = read_table(job.input.windows, ["window", "prompt", "scored"]).to_pydict()
    windows, prompts = columns["window"], columns["prompt"]
    lengths = {len(scored) for scored in columns["scored"]}
    if len(lengths) != 1:
        raise UserError(f"{job.input.windows}: windows score {sorted(lengths)} bytes; samples have one length")
    (length,) = lengths
    name, decodings = job.wildcards.model, settings["decodings"]
    logger.info("%s: %d samples of %d bytes on %s in %s", name, len(windows), length, device, precision)
    with tqdm(
        desc=name, total=len(decodings) * len(windows) * length, unit="B", unit_scale=True, disable=None
    ) as progress:
        for decoding, path in zip(decodings, job.output, strict=True):
            own = {**settings, "decodings": [decoding]}
            made_by = provenance(own, model=name, rank=rank, precision=precision, device=device.type)
            with open_writer(path, SAMPLES, made_by) as writer:
                for rows in generate(
                    model,
                    windows,
                    prompts,
                    length,
                    decoding,
                    settings["seed"],
                    settings["batch"],
                    precision,
                    progress.update,
                ):
                    writer.write_batch(rows)


if __name__ == "__main__":
    run(main, snakemake)
