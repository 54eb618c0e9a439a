"""Learn byte-pair tokens from the training split, to see the language through a larger vocabulary."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from oversmoothing.corpus.reader import read_split, verify
from oversmoothing.jobs import run
from oversmoothing.store.atomic import atomic_path
from oversmoothing.text_quality.tokenizer import train_tokenizer

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the beginning of the training split; write a tokenizer in the Hugging Face format."""
    settings = job.params.settings
    manifest = json.loads(Path(job.input.manifest).read_text(encoding="utf-8"))
    verify(job.input.training, manifest["splits"]["train"])
    text = read_split(job.input.training)[: settings["bytes"]].tobytes().decode("utf-8", errors="ignore")
    tokenizer = train_tokenizer(text, settings["vocabulary"])
    with atomic_path(job.output[0]) as temporary:
        temporary.write_text(tokenizer.to_str(), encoding="utf-8")


if __name__ == "__main__":
    run(main, snakemake)
