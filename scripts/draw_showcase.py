"""Write the showcase prompts as windows."""

from typing import TYPE_CHECKING

from oversmoothing.corpus.showcase import showcase_windows
from oversmoothing.jobs import run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Write one window for each prompt in `params.settings`."""
    settings = job.params.settings
    write_table(job.output[0], showcase_windows(settings["prompts"]), provenance(settings))


if __name__ == "__main__":
    run(main, snakemake)
