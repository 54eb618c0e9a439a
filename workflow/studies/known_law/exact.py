"""Write a law's log-probabilities over its own windows, which are then a truth like any other."""

import logging

import numpy as np
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.models.logit_files import POSITION, logit_groups
from oversmoothing.models.logits import logits_schema
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import Decoder, softmax
from oversmoothing.store.parquet import open_writer, vector_array
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the logits of the model whose law it is; write those of the law: -inf where it gives nothing."""
    settings = job.params.settings
    pure = settings["decoding"].get("name") == "pure"
    decode = None if pure else decoder(settings["decoding"])
    schema, impossible = logits_schema(settings["vocabulary"]), 0
    with open_writer(job.output[0], schema, provenance(settings, law=job.wildcards.law)) as writer:
        for keys, logits in tqdm(logit_groups(job.input[0], POSITION), unit="window", disable=None):
            log_p = log_law(logits, decode) if decode else logits
            impossible += int(np.isneginf(log_p[np.arange(len(log_p)), keys["target"].to_numpy()]).sum())
            columns = [*keys.columns, vector_array(log_p)]
            writer.write_batch(type(keys).from_arrays(columns, schema=schema))
    if impossible:  # sampling and this pass round differently, which can move the edge of a truncation by a byte
        logger.warning("%d sampled bytes lie just outside what their law allows", impossible)


def log_law(logits: np.ndarray, decode: Decoder) -> np.ndarray:
    """Return log-probabilities, float32 (n, v), of decoded float32 distributions, as in sampling.

    They are -inf where the distributions are 0.
    """
    p = decode(softmax(logits)).astype(np.float64)
    with np.errstate(divide="ignore"):
        log_p: np.ndarray = np.log(p / p.sum(axis=1, keepdims=True)).astype(np.float32)
    return log_p


if __name__ == "__main__":
    run(main)
