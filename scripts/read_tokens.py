"""The tokens of a tokenizer from the hub or from a folder."""

import logging

from oversmoothing.data.tokens.learn import save_tokenizer
from oversmoothing.data.tokens.vocabulary import load_tokenizer, vocabulary_of
from oversmoothing.hub.manifest import TOKENIZER_FILES, asset_folder
from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read `tokenizer.json` of an asset; write a copy of it, and its tokens."""
    path = asset_folder(job.input.manifest, read=TOKENIZER_FILES, needed=TOKENIZER_FILES) / "tokenizer.json"
    tokenizer = load_tokenizer(path)
    vocabulary = vocabulary_of(tokenizer, path)
    logger.info("%s: %d tokens, %d special ids", path, len(vocabulary), tokenizer.get_vocab_size() - len(vocabulary))
    save_tokenizer(job.output.tokenizer, tokenizer)
    write_table(job.output.vocabulary, vocabulary.table(), provenance({}, source=str(path)))


if __name__ == "__main__":
    run(main)
