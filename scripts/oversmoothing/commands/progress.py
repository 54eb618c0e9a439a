"""Print how far each model of a run is. Can be called while the run is under way, and changes none of its files."""

from functools import partial

from oversmoothing.commands.study import snakemake

main = partial(snakemake, "progress", __doc__, "so_far")
