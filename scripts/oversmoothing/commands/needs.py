"""Print what a study needs before it starts: operations, GPU hours, memory and disk space."""

from collections.abc import Sequence

from oversmoothing.commands.study import snakemake


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    return snakemake("needs", __doc__, arguments, "needs")
