"""Learn byte-pair tokens from the training split, for n-grams over a larger vocabulary."""

from oversmoothing.data.reader import read_split
from oversmoothing.data.tokens.learn import save_tokenizer, train_tokenizer
from oversmoothing.jobs import Job, run


def main(job: Job) -> None:
    """Read the beginning of the training split; write a tokenizer in the Hugging Face format."""
    settings = job.params.settings
    data = read_split(job.input.training, job.input.manifest, "train")
    text = data[: settings["bytes"]].tobytes().decode("utf-8", errors="ignore")
    tokenizer = train_tokenizer(text, settings["vocabulary"])
    save_tokenizer(job.output[0], tokenizer)


if __name__ == "__main__":
    run(main)
