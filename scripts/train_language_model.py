"""Train the small language model that measures sample quality unless the config names another."""

import logging

from oversmoothing.corpus.reader import read_split
from oversmoothing.device import setup
from oversmoothing.jobs import Job, run
from oversmoothing.quality.language_model import save_language_model, train_language_model

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the training split; write a model folder in the Hugging Face format."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    data = read_split(job.input.training, job.input.manifest, "train")
    model, tokenizer, loss = train_language_model(data, settings, settings["seed"], device, precision)
    save_language_model(job.output[0], model, tokenizer)
    logger.info("%.1f million weights, loss %.3f nats per token", model.num_parameters() / 1e6, loss)


if __name__ == "__main__":
    run(main)
