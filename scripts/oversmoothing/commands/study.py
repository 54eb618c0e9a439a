"""Snakemake as the commands call it: in the project's folder, quietly, with the user's config."""

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from oversmoothing.jobs import UserError

SNAKEFILE = Path("workflow/Snakefile")
CLONE = "`git clone`"
# The project's own workflow and profile, whatever else lies in its folder: a `Snakefile`, `profiles/default`.
OWN = ("--snakefile", str(SNAKEFILE), "--workflow-profile", "workflow/profiles/default")


def parser_of(name: str, description: str | None) -> argparse.ArgumentParser:
    """Parser of the arguments of such a command."""
    parser = argparse.ArgumentParser(prog=f"oversmoothing {name}", description=description)
    parser.add_argument(
        "--configfile", nargs="+", default=[], metavar="FILE", help="configs laid over the default, config/config.yaml"
    )
    return parser


def snakemake(name: str, parser: Callable[[], argparse.ArgumentParser], target: str, arguments: Sequence[str]) -> int:
    """Parse ``--configfile``, make the target quietly in the project's folder, and return Snakemake's exit status."""
    configs = parser().parse_args(arguments).configfile
    check_project(name)
    if missing := [config for config in configs if not Path(config).is_file()]:
        raise UserError(f"--configfile {missing[0]}: no such file")
    common, more = (
        ["snakemake", *OWN, "--cores", "1", "--nolock", target],
        ["--configfile", *configs] if configs else [],
    )
    command = [sys.executable, "-m", *common, "--quiet", "all", *more]
    status = subprocess.run(command, env=environment()).returncode
    if status:  # Snakemake hides its own errors, too, when it is quiet
        print(f"Error: no result; to see why: {shlex.join([*common, *more])}", file=sys.stderr)
    return status


def environment() -> dict[str, str]:
    """Return the environment without the user's settings of Snakemake, which could send a job to a cluster."""
    return {key: value for key, value in os.environ.items() if key not in unused_variables()}


def unused_variables() -> list[str]:
    """Return the names of the user's settings of Snakemake in the environment: of a profile, an executor, a storage."""
    return sorted(key for key in os.environ if key.startswith("SNAKEMAKE_"))


def check_project(name: str) -> None:
    """Raise a `UserError` if a command is not run in the folder of the project, or cannot write there."""
    if not SNAKEFILE.is_file():
        raise UserError(
            f"no {SNAKEFILE} in {Path.cwd()}: `oversmoothing {name}` works in the folder of the project alone; "
            f"{CLONE} it, and run it there"
        )
    if not os.access(Path.cwd(), os.W_OK):
        raise UserError(
            f"{Path.cwd()}: not writable, and Snakemake writes its records there; change its mode, or copy the project"
        )
