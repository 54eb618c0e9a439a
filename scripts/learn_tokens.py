"""Learn the tokens of a study from its training split, by byte-pair encoding."""

from oversmoothing.data.reader import read_split
from oversmoothing.data.tokens.learn import save_tokenizer, train_tokenizer
from oversmoothing.data.tokens.vocabulary import vocabulary_of
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read the beginning of the training split; write a tokenizer in the Hugging Face format, and its tokens."""
    settings = job.params.settings
    data = read_split(job.input.training, job.input.manifest, "train")
    text = data[: settings["bytes"]].tobytes().decode("utf-8", errors="ignore")
    tokenizer = train_tokenizer(text, settings["vocabulary"] + 1)  # the end of a text is no token
    vocabulary = vocabulary_of(tokenizer, job.output.tokenizer)
    if len(vocabulary) != settings["vocabulary"]:
        raise UserError(
            f"tokens.vocabulary: the text gives {len(vocabulary):,} tokens, not {settings['vocabulary']:,}; lower it"
        )
    save_tokenizer(job.output.tokenizer, tokenizer)
    write_table(job.output.vocabulary, vocabulary.table(), provenance(settings))


if __name__ == "__main__":
    run(main)
