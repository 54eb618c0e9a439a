"""Write the showcase prompts as windows."""

from typing import TYPE_CHECKING

from oversmoothing.corpus.showcase import showcase_windows
from oversmoothing.jobs import run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.typical_prompt import typical_prompt

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Write one window for each prompt in `params.settings`; a prompt that is null is chosen by rule."""
    settings = job.params.settings
    prompts = [
        (entry["prompt"].encode(), entry["next"].encode())
        if entry["prompt"] is not None
        else typical_prompt(job.input.windows, job.input.truth, job.input.family)
        for entry in settings["prompts"]
    ]
    write_table(job.output[0], showcase_windows(prompts), provenance(settings))


if __name__ == "__main__":
    run(main)
