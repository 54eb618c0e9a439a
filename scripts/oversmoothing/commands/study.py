"""Snakemake as the commands call it: in the project's folder, quietly, with the user's config."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from oversmoothing.jobs import UserError

SNAKEFILE = Path("workflow/Snakefile")


def snakemake(name: str, description: str | None, arguments: Sequence[str], options: Sequence[str]) -> int:
    """Parse ``--configfile``, run Snakemake with `options` in the project's folder, and return its exit status."""
    parser = argparse.ArgumentParser(prog=f"oversmoothing {name}", description=description)
    parser.add_argument(
        "--configfile", nargs="+", default=[], metavar="FILE", help="configs laid over the default, config/config.yaml"
    )
    configs = parser.parse_args(arguments).configfile
    if not SNAKEFILE.is_file():
        raise UserError(f"no {SNAKEFILE} in {Path.cwd()}; run `oversmoothing {name}` in the folder of the project")
    if missing := [config for config in configs if not Path(config).is_file()]:
        raise UserError(f"--configfile {missing[0]}: no such file")
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--nolock", *options]
    return subprocess.run([*command, *(["--configfile", *configs] if configs else [])]).returncode
