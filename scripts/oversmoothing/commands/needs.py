"""Print what a study needs before it starts: operations, GPU hours, memory and disk space."""

from functools import partial

from oversmoothing.commands.study import snakemake

main = partial(snakemake, "needs", __doc__, "needs")
