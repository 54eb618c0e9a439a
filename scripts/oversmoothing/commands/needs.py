"""Print what a study needs before it starts: operations, GPU hours, memory and disk space."""

from functools import partial

from oversmoothing.commands.study import parser_of, snakemake

parser = partial(parser_of, "needs", __doc__)
main = partial(snakemake, "needs", parser, "needs")
