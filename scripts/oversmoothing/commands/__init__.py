"""The command ``oversmoothing``: one module per subcommand, with a docstring for `--help` and a `main`."""

import logging
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from importlib import import_module
from typing import Any

# Commands that import PyTorch: modules of `arguments` read and check their arguments first.
CHECKED = ("head", "size", "compare-models", "frontier")
ANYWHERE = {
    "head": "measure the LM head of one model, a folder or a name on the hub, without a config",
    "size": "find how many columns a head needs for a text: what the best heads of each rank force",
    "compare-models": "measure how much a language model oversmooths beside another one",
    "frontier": "compare decoding methods of one model over all their settings, beside another model",
    "compare": "compare the tables and settings of two results folders",
}
CLONED = {
    "prompt": "continue a text with every trained model, side by side",
    "page": "print the main table, and write the page of what there is, index.html",
    "needs": "print the operations, GPU hours, memory and disk space that a config needs",
    "progress": "print how far a run is while it goes on",
}
COMMANDS = ANYWHERE | CLONED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit status; a user's mistake, or Ctrl-C (130), is one line on standard error.

    Where standard error is no terminal, bars become lines (`minutes.Minutes`).
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    with _interrupted_at_once():
        from oversmoothing.commands.minutes import Minutes
        from oversmoothing.jobs import explain

        if logging.lastResort:  # prints warnings, which may name what stands in a file
            logging.lastResort.setFormatter(_Printable())
        command = _command(given[:1])
    try:
        words: Any = given[1:]
        if command != "prompt":  # whose text may be any bytes
            _check_words(words)
        module = command.replace("-", "_")
        with _interrupted_at_once():
            if command in CHECKED:
                words = import_module(f"oversmoothing.commands.arguments.{module}").parse(words)
            run = import_module(f"oversmoothing.commands.{module}").main
        with nullcontext() if sys.stderr.isatty() else redirect_stderr(Minutes(sys.stderr)):
            return run(words)
    except KeyboardInterrupt as end:
        print(f"\n{end.args[0] if end.args else 'Interrupted.'}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # who reads it has read enough, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be flushed
        return 128 + signal.SIGPIPE
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        print(f"Error: {message}", file=sys.stderr)
        return 1


class _Printable(logging.Formatter):
    """Formatter of a log's record as one printable line."""

    def format(self, record: logging.LogRecord) -> str:
        from oversmoothing.printable import printable

        return printable(record.getMessage())


def _command(given: Sequence[str]) -> str:
    """Return the subcommand that is asked for; exit with what it should be, or after ``--help`` and ``--version``."""
    import argparse
    from difflib import get_close_matches
    from importlib.metadata import version

    parser = argparse.ArgumentParser(
        prog="oversmoothing",
        description="Commands of the study of the softmax bottleneck.",
        epilog=f"commands that work in any folder:\n{_listed(ANYWHERE)}\n\n"
        f"commands for a clone of the project (`git clone`), where a study is run:\n{_listed(CLONED)}"
        + "\n\n`oversmoothing COMMAND --help` describes the arguments of a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"oversmoothing {version('oversmoothing')}")
    parser.add_argument("command", metavar="COMMAND", help="one of the commands below")
    command = parser.parse_args(given).command
    if command not in COMMANDS:
        near = get_close_matches(command, COMMANDS, n=1)
        parser.error(f"no command {command!r}; {f'did you mean {near[0]!r}?' if near else 'see --help'}")
    return command


def _listed(commands: Mapping[str, str]) -> str:
    return "\n".join(f"  {name:<16}{text}" for name, text in commands.items())


def _check_words(given: Sequence[str]) -> None:
    """Raise a `UserError` for an argument that is not UTF-8, as no file that is named in JSON or a config may be.

    Also for a GGUF file that cannot be converted, which its header says at once.
    """
    from oversmoothing.hub.names import GGUF, as_gguf
    from oversmoothing.jobs import UserError

    if odd := next((word for word in given if any("\ud800" <= character <= "\udfff" for character in word)), None):
        raise UserError(f"{odd!r} is not UTF-8: rename the file or folder")
    for word in given:
        if word.endswith(GGUF) and (path := as_gguf(word)) and path.is_file():
            from oversmoothing.hub.gguf_model import check_gguf  # with NumPy, which takes a second

            check_gguf(path)


@contextmanager
def _interrupted_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process with one line while it imports: an exception would pass through PyTorch's C++ code."""

    def leave(*_: object) -> None:
        os.write(2, b"\nInterrupted.\n")
        os._exit(130)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # a background job ignores it
        yield
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
