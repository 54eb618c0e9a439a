"""Train the small language model that measures quality where the config names none."""

import logging
from typing import TYPE_CHECKING

from oversmoothing.corpus.reader import read_manifest, read_split, verify
from oversmoothing.device import choose_device, choose_precision, make_deterministic
from oversmoothing.jobs import run
from oversmoothing.quality.language_model import save_language_model, train_language_model

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

logger = logging.getLogger(__name__)


def main(job: "Snakemake") -> None:
    """Read the training split; write a folder in the Hugging Face format."""
    settings = job.params.settings
    device = choose_device(job.params.device)
    precision = choose_precision(settings["precision"], device)
    make_deterministic(device, settings["threads"])
    manifest = read_manifest(job.input.manifest)
    verify(job.input.training, manifest["splits"]["train"])
    model, tokenizer, loss = train_language_model(
        read_split(job.input.training), settings, settings["seed"], device, precision
    )
    save_language_model(job.output[0], model, tokenizer)
    logger.info("%.1f million weights, loss %.3f nats per token", model.num_parameters() / 1e6, loss)


if __name__ == "__main__":
    run(main, snakemake)
