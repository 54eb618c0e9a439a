"""A program whose output is passed on until Ctrl-C, after which it has nothing more to say."""

import os
import pty
import subprocess
import sys
import termios
from collections.abc import Sequence

from oversmoothing.commands.study import environment
from oversmoothing.run.failed import AGAIN

BLOCK = 1 << 16  # bytes


def relay(command: Sequence[str]) -> int:
    """Run Snakemake, pass its output on to standard error, a terminal if that is one, and return its exit status.

    After Ctrl-C, which the program gets as well, it is waited for, so that it ends its jobs and removes its locks; what
    it and they write from then on is dropped, and the KeyboardInterrupt is raised.
    """
    stream, interrupt = sys.stderr.fileno(), None
    source, sink = pty.openpty() if os.isatty(stream) else os.pipe()
    if os.isatty(stream):
        termios.tcsetwinsize(sink, termios.tcgetwinsize(stream))
    with (
        subprocess.Popen(command, stdout=sink, stderr=sink, env=environment()) as process,
        os.fdopen(source, "rb", buffering=0) as output,
    ):
        os.close(sink)
        while True:
            try:
                while data := _read(output.fileno()):
                    if interrupt is None:
                        os.write(stream, data)
                status = process.wait()
                break
            except KeyboardInterrupt as error:
                interrupt = error
    if interrupt is not None:
        raise KeyboardInterrupt(AGAIN) from interrupt
    return status


def _read(source: int) -> bytes:
    """Read what there is; nothing at the end, which a terminal of Linux reports as an error."""
    try:
        return os.read(source, BLOCK)
    except OSError:
        return b""
