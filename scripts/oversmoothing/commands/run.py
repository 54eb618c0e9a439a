"""Run Snakemake and show one line: which of how many steps, which models train, their losses, the time left.

Everything that Snakemake prints is in .snakemake/run.log, whose end is shown after an error. Where the output is no
terminal, Snakemake is run as it is.
"""

import argparse
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from oversmoothing.follow import Follower

LOG = Path(".snakemake/run.log")
INTERVAL = 1.0  # seconds between two lines


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="oversmoothing run", description=__doc__)
    parser.add_argument("arguments", nargs="*", help="what Snakemake takes, such as `--cores 2 TARGET`")
    if {"-h", "--help"}.intersection(arguments):
        parser.parse_args(["--help"])
    command = [sys.executable, "-m", "snakemake", *arguments]
    if not sys.stderr.isatty():
        return subprocess.run(command).returncode
    LOG.parent.mkdir(exist_ok=True)
    follower = Follower()
    with LOG.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        show(process, follower, log)
        status = process.wait()
    if status:
        print("".join(follower.last), f"All that was printed: {LOG}", sep="\n", file=sys.stderr)
    return status


def show(process: subprocess.Popen[str], follower: Follower, log: IO[str]) -> None:
    """Copy what a process prints into its log, and keep the line of progress up to date until it ends."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=INTERVAL)
        except queue.Empty:
            write(follower.line())
            continue
        except KeyboardInterrupt:  # Snakemake has it too, and stops its jobs
            print("\nstopping ...", file=sys.stderr)
            continue
        if line is None:
            break
        log.write(line)
        log.flush()
        follower.read(line)
        if lines.empty():
            write(follower.line())
    write(follower.line())
    print(file=sys.stderr)


def write(text: str) -> None:
    """Replace the last line of the terminal."""
    width = shutil.get_terminal_size().columns - 1
    shown = text if len(text) <= width else f"{text[: width - 1]}…"
    print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)
