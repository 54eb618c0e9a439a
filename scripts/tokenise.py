"""Write the training and validation splits in tokens."""

import logging

from oversmoothing.data.reader import read_split
from oversmoothing.data.tokens.text import DTYPE, write_tokens
from oversmoothing.data.tokens.vocabulary import load_tokenizer, read_vocabulary
from oversmoothing.jobs import Job, run
from oversmoothing.store.sealed_json import write_sealed

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the bytes of both splits; write their tokens, and a manifest of them."""
    tokenizer, vocabulary = load_tokenizer(job.input.tokenizer), read_vocabulary(job.input.vocabulary)
    splits = {}
    for split in ("train", "validation"):
        data = read_split(job.input[split], job.input.manifest, split)
        splits[split] = write_tokens(job.output[split], data, tokenizer, vocabulary)
        logger.info("%s: %s", split, splits[split])
    write_sealed(job.output.manifest, {"dtype": DTYPE, "vocabulary": len(vocabulary), "splits": splits})


if __name__ == "__main__":
    run(main)
