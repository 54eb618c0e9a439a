"""Limits on what a tokenizer of others may do: to the process that builds it, and with a text."""

import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from threading import Thread

from tokenizers import Encoding, Tokenizer

from oversmoothing.data.tokens import probe
from oversmoothing.jobs import UserError
from oversmoothing.standard_error import silenced
from oversmoothing.store.provenance import sha256

MEMORY = 4 << 30  # bytes of the child that tries a file
SECONDS = 20  # of processor: of that child, and of a text, to which the next is added
PACE = 2000  # characters in a second, a hundredth of what a slow tokenizer reads
OTHER = "take the file from the model's publisher, or another model"


def check_file(path: str | Path) -> None:
    """Raise a `UserError` unless a child with a limit can build the tokenizer of a file; once for each content."""
    if fault := _fault(Path(path).resolve(), sha256(path)):
        raise UserError(f"{path}: {fault}")


def encoded(tokenizer: Tokenizer, text: str, name: str = "the text", special: bool = False) -> Encoding:
    """Return the encoding of a text, with `special` also of what the tokenizer puts around it.

    A `UserError` says of the text `name` if the tokenizer fails or takes too long.
    """
    done: list[Encoding] = []
    failed: list[BaseException] = []

    def read() -> None:
        try:
            done.extend(tokenizer.encode_batch([text], add_special_tokens=special))  # without Python's lock
        except BaseException as error:
            failed.append(error)

    limit, begun = SECONDS + len(text) / PACE, time.process_time()
    reader = Thread(target=read, daemon=True)
    with silenced():  # the library writes a panic there by itself
        reader.start()
        reader.join(1.0)
        while reader.is_alive() and time.process_time() - begun < limit:
            reader.join(0.1)
    if reader.is_alive():
        raise UserError(f"{name}: its tokenizer took over {limit:.0f} s; an expression backtracks without end; {OTHER}")
    if failed:
        raise UserError(f"{name}: its tokenizer cannot read it ({' '.join(str(failed[0]).split())}); {OTHER}")
    return done[0]


@cache
def _fault(path: Path, digest: str) -> str:
    """Return what is wrong with a file of some content, or nothing."""
    command = [sys.executable, "-P", "-m", probe.__name__, str(path), str(MEMORY), str(SECONDS)]
    own = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1", "TOKENIZERS_PARALLELISM": "false"}
    child = subprocess.run(command, capture_output=True, env={**os.environ, **own}, check=False)
    if child.returncode == 0:
        fault = child.stdout.decode(errors="replace").strip()
        return f"{fault}; {OTHER}" if fault else ""
    if child.returncode == -signal.SIGXCPU:
        return f"to read a short text with it takes over {SECONDS} s; {OTHER}"
    if child.returncode < 0:
        return f"to read a short text with it takes over {MEMORY / 2**30:g} GB of memory, or aborts; {OTHER}"
    raise UserError(f"{path}: the process that tries it fails ({_last_line(child.stderr)}); run again")


def _last_line(printed: bytes) -> str:
    return next(reversed(printed.decode(errors="replace").strip().splitlines()), "without a word")
