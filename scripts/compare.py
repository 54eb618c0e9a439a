"""Compare two folders of results: their tables row by row, and in which settings they differ.

Needs no Snakemake: ``python scripts/compare.py results results/mine --table oversmoothing``.
"""

import argparse
import sys
from collections.abc import Sequence

import pandas as pd

from oversmoothing.compare import compare, markdown, settings_differences
from oversmoothing.jobs import UserError
from oversmoothing.layout import write_csv


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = parser().parse_args(arguments)
    try:
        compared = compare(options.a, options.b, options.table)
        print(markdown(compared, settings_differences(options.a, options.b), options.a, options.b))
        if options.csv:
            write_csv(pd.concat(compared, names=["table"]).reset_index("table"), options.csv)
            print(f"\nWrote {options.csv}")
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    found = argparse.ArgumentParser(prog="compare.py", description=(__doc__ or "").splitlines()[0])
    found.add_argument("a", help="a folder of results")
    found.add_argument("b", help="another one")
    found.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME",
        help="such as oversmoothing; once for each (default: all)",
    )
    found.add_argument("--csv", metavar="FILE", help="write the comparison as a tidy table as well")
    return found


if __name__ == "__main__":
    sys.exit(main())
