"""Learn byte-pair tokens from the training split, for n-grams over a larger vocabulary."""

from typing import TYPE_CHECKING

from oversmoothing.corpus.reader import read_split
from oversmoothing.jobs import run
from oversmoothing.tokens.learn import save_tokenizer, train_tokenizer

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Read the beginning of the training split; write a tokenizer in the Hugging Face format."""
    settings = job.params.settings
    data = read_split(job.input.training, job.input.manifest, "train")
    text = data[: settings["bytes"]].tobytes().decode("utf-8", errors="ignore")
    tokenizer = train_tokenizer(text, settings["vocabulary"])
    save_tokenizer(job.output[0], tokenizer)


if __name__ == "__main__":
    run(main)
