"""The option ``--bos``: the id before every passage, of all commands that run a model of the hub."""

import argparse

AUTO = "auto"  # as `models.truths.load.AUTO`, whose module loads PyTorch
HELP = "id before every passage, or none (default: the one that the model's tokenizer.json puts there, if any)"


def add_bos(command: argparse.ArgumentParser) -> None:
    """Add the option, whose value is an id, None or `AUTO`."""
    command.add_argument("--bos", type=_bos, default=AUTO, metavar="ID", help=HELP)


def _bos(text: str) -> int | str | None:
    if text == AUTO:
        return AUTO
    if text == "none":
        return None
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no id; write a number, none or auto")
    return int(text)
