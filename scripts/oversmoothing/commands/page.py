"""Print the main table, and write the story page, index.html, from what a results folder has."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from oversmoothing.claims.measured import WINDOWS
from oversmoothing.claims.story.chapters import of_packages
from oversmoothing.claims.story.page import write_story
from oversmoothing.jobs import UserError
from oversmoothing.run.conclusion import PAGE, TOKENS, conclusion

WORKFLOW = Path(__file__).resolve().parents[3] / "workflow"  # of the clone that this command lies in, if it is one


def parser() -> argparse.ArgumentParser:
    """Parser of the command's arguments."""
    example = "example: oversmoothing page results"
    command = argparse.ArgumentParser(prog="oversmoothing page", description=__doc__, epilog=example)
    command.add_argument("results", nargs="?", default="results", help="a results folder (default: %(default)s)")
    return command


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    results = Path(parser().parse_args(arguments).results)
    kinds = ("tables/*.csv", f"tables/{WINDOWS}.parquet", "figures/*.png")
    paths = [path for kind in kinds for path in sorted(results.glob(kind))]
    if not paths:
        raise UserError(f"{results}: no tables and no figures; name a results folder, or run `make` in a `git clone`")
    if (results / TOKENS).is_file():
        raise UserError(f"{results}: a study over tokens has no page; `snakemake --report` makes an archive of it")
    if str(WORKFLOW) not in sys.path:
        sys.path.append(str(WORKFLOW))
    names = sorted(f"studies.{path.parent.name}" for path in WORKFLOW.glob("studies/*/story.md"))
    if not names:
        print(
            "Without the chapters of studies, whose words are in a clone of the project: their tables and figures "
            "stand at the end. For all, run `oversmoothing page` in the clone.",
            file=sys.stderr,
        )
    write_story(paths, results / PAGE, of_packages(names))
    print(conclusion(results, (results / "tables/oversmoothing.csv").is_file(), page=True))
    return 0
