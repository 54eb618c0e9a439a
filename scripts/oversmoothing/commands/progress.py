"""Print how far each model of a run is. Can be called while the run is under way, and changes none of its files."""

from functools import partial

from oversmoothing.commands.study import parser_of, snakemake

parser = partial(parser_of, "progress", __doc__)
main = partial(snakemake, "progress", parser, "so_far")
