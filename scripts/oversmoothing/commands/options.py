"""Options of all commands that run a model of the hub on a text."""

import argparse

from oversmoothing.data.extensions import LIST
from oversmoothing.data.tokens.vocabulary import AUTO, Before, as_before

TEXT = f"text to measure on: a file, a folder or a glob in quotes; {LIST}; a file of another ending is plain text"
SPLIT_ON = "what stands between the documents of the text, such as '<|endoftext|>', and is no part of them"
BOS = "id before every passage, several (1,2), or none (default: what the model's tokenizer.json puts there, if any)"
COLUMN = "of a text in columns or records: the column or field with the text (default: %(default)s)"


def add_options(command: argparse.ArgumentParser, precision: str, what: str) -> None:
    """Add the options; `precision` is a default, and `what` says what it is of. The value of --bos may be None."""
    command.add_argument("--column", default="text", metavar="NAME", help=COLUMN)
    command.add_argument("--split-on", metavar="TEXT", help=SPLIT_ON)
    command.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto", help="(default: %(default)s)")
    what = f"{what} (default: %(default)s)"
    command.add_argument("--precision", choices=["auto", "bf16", "float32"], default=precision, help=what)
    command.add_argument("--bos", type=_bos, default=AUTO, metavar="ID", help=BOS)


def _bos(text: str) -> Before | str:
    if text in (AUTO, "none"):
        return AUTO if text == AUTO else None
    ids = text.split(",")
    if not all(id.isascii() and id.isdigit() for id in ids):
        raise argparse.ArgumentTypeError(f"{text!r} is no id; write a number, several such as 1,2, none or auto")
    return as_before([*map(int, ids)])
