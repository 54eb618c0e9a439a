"""Options of all commands that run a model of the hub on a text."""

import argparse

from oversmoothing.data.extensions import LIST
from oversmoothing.data.tokens.vocabulary import AUTO

TEXT = f"text to measure on: a file, a folder or a glob in quotes; {LIST}; a file of another ending is plain text"
SPLIT_ON = "what stands between the documents of the text, such as '<|endoftext|>', and is no part of them"
BOS = "id before every passage, or none (default: the one that the model's tokenizer.json puts there, if any)"
COLUMN = "of a text in columns or records: the column or field with the text (default: %(default)s)"


def add_options(command: argparse.ArgumentParser, precision: str, what: str) -> None:
    """Add the options; `precision` is a default, and `what` says what it is of. The value of --bos may be None."""
    command.add_argument("--column", default="text", metavar="NAME", help=COLUMN)
    command.add_argument("--split-on", metavar="TEXT", help=SPLIT_ON)
    command.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto", help="(default: %(default)s)")
    what = f"{what} (default: %(default)s)"
    command.add_argument("--precision", choices=["auto", "bf16", "float32"], default=precision, help=what)
    command.add_argument("--bos", type=_bos, default=AUTO, metavar="ID", help=BOS)


def _bos(text: str) -> int | str | None:
    if text in (AUTO, "none"):
        return AUTO if text == AUTO else None
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no id; write a number, none or auto")
    return int(text)
