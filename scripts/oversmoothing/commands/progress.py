"""Print how far each model of a run is. Can be called while the run is under way, and changes none of its files."""

from collections.abc import Sequence

from oversmoothing.commands.study import snakemake


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    return snakemake("progress", __doc__, arguments, "so_far")
