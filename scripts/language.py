"""Dimensionality of the language of a text: singular values of its n-gram matrices (Godey et al. 2024)."""

from typing import TYPE_CHECKING

from oversmoothing.corpus.files import Files
from oversmoothing.corpus.reader import read_split
from oversmoothing.jobs import run
from oversmoothing.language.measure import measure, read_beginning
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.tokens.learn import load_tokenizer, tokenise

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Read the beginning of a split or of the user's files; write singular values and matrix sizes."""
    settings, name = job.params.settings, job.wildcards.text
    if "manifest" in job.input.keys():  # noqa: SIM118 (Snakemake's named list iterates over files)
        data = read_split(job.input.text, job.input.manifest, name)[: settings["bytes"]]
    else:
        files = Files(settings["paths"], settings["column"])
        data = read_beginning(files, settings["separator"], settings["bytes"])
    texts = {"byte": (data, 256)}
    if job.input.tokenizer:
        tokenizer = load_tokenizer(job.input.tokenizer[0])
        tokens = tokenise(tokenizer, data.tobytes().decode("utf-8", errors="ignore"))
        texts["byte pair"] = (tokens, tokenizer.get_vocab_size())
    spectra, sizes = measure(
        texts, settings["contexts"], settings["singular_values"], settings["seen"], settings["seed"]
    )
    made_by = provenance(settings, text=name)
    write_table(job.output.spectra, spectra, made_by)
    write_table(job.output.sizes, sizes, made_by)


if __name__ == "__main__":
    run(main)
