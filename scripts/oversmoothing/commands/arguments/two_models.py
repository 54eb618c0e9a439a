"""Arguments that commands of two models share."""

import argparse

from oversmoothing.commands.arguments.parser import Parser
from oversmoothing.commands.arguments.text import check_text
from oversmoothing.commands.options import TEXT, add_options
from oversmoothing.comparison.settings import BYTES_EACH, TOKENS_EACH, Settings
from oversmoothing.hub.names import STUDIED, as_folder, is_studied
from oversmoothing.jobs import UserError

PRECISION = "of the models; bf16 adds noise to a small KL, auto takes it where it is faster"


def add_arguments(command: Parser, over_bytes: bool = False) -> None:
    """Add the arguments that all commands of two models take, and those of a command that can compare bytes."""
    what = "a causal language model: a folder (Hugging Face format), a .gguf file or a name on the hub (owner/name)"
    command.add_argument("model", help=what)
    same = "" if over_bytes else ", with the same tokenizer"
    command.add_argument("truth", help=f"the model that it is measured against{same}")
    command.add_argument("--text", required=True, metavar="FILE", help=TEXT)
    add_options(command, "float32", PRECISION)
    command.number("--windows", low=1, default=Settings.windows, help="passages of the text (default: %(default)s)")
    length = f"(default: {TOKENS_EACH}" + (f"; {BYTES_EACH} bytes)" if over_bytes else ")")
    command.number("--prompt", low=1, help=f"tokens of each before the first scored one {length}")
    command.number("--scored", low=1, help=f"scored tokens of each {length}")
    if over_bytes:
        what = "compare distributions of bytes, as where the tokenizers differ; lengths are then in bytes"
        command.add_argument("--bytes", dest="over_bytes", action="store_true", help=what)
    command.number("--cores", low=1, default=Settings.cores, help="processors that are used (default: %(default)s)")
    what = "of fetched and converted models (default: %(default)s)"
    command.add_argument("--assets", default=Settings.assets, metavar="FOLDER", help=what)


def check(asked: argparse.Namespace) -> None:
    """Raise a `UserError` for arguments that cannot be, as far as is known without the models."""
    check_text(asked.text, asked.column)
    for given in (asked.model, asked.truth):
        if (folder := as_folder(given)) and is_studied(folder):
            raise UserError(
                f"{given}: a model that a study trained, which reads bytes; `head` and `size` measure it, and a config "
                f"compares it, as `family: [{{name: mine, path: {folder / STUDIED}}}]`"
            )
