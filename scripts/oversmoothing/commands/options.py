"""Options of all commands that run a model of the hub on a text."""

import argparse

from oversmoothing.data.tokens.vocabulary import AUTO

BOS = "id before every passage, or none (default: the one that the model's tokenizer.json puts there, if any)"
COLUMN = "of a text in Parquet or JSON: the column or field with the text (default: %(default)s)"


def add_bos(command: argparse.ArgumentParser) -> None:
    """Add the option ``--bos``, whose value is an id, None or `AUTO`."""
    command.add_argument("--bos", type=_bos, default=AUTO, metavar="ID", help=BOS)


def add_column(command: argparse.ArgumentParser) -> None:
    """Add the option ``--column``."""
    command.add_argument("--column", default="text", metavar="NAME", help=COLUMN)


def _bos(text: str) -> int | str | None:
    if text == AUTO:
        return AUTO
    if text == "none":
        return None
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no id; write a number, none or auto")
    return int(text)
