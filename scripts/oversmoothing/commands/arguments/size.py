"""Find how many columns an LM head needs: what the best heads of each rank force of a truth's predictions of a text."""

import argparse
from collections.abc import Sequence

from oversmoothing.commands.arguments.parser import Parser
from oversmoothing.commands.arguments.text import check_text
from oversmoothing.commands.one_model import TEXT, add_options, check_json
from oversmoothing.jobs import UserError

EXAMPLE = "example: oversmoothing size --truth EleutherAI/pythia-70m --text book.txt"
RANKS = "to fit; one that forces nothing is shown as the smallest that forces nothing (default: 4,8,16,32)"
DEFAULT = 4, 8, 16, 32


def parser() -> Parser:
    """Parser of the command's arguments."""
    command = Parser(prog="oversmoothing size", description=__doc__, epilog=EXAMPLE)
    what = (
        "the model whose predictions a head should give: a folder in the Hugging Face format, a .gguf file, a name on "
        "the hub, which is fetched once, or RESULTS/models/NAME of a study over bytes"
    )
    command.add_argument("--truth", required=True, metavar="MODEL", help=what)
    command.add_argument("--text", required=True, metavar="FILE", help=TEXT)
    command.number("--ranks", type=numbers, low=1, metavar="R,R,...", help=RANKS)
    what = (
        "find the smallest ranks that force at most 0.1, 0.01 and 0.001 nats, by doubling and bisection, which fits "
        "further ranks; without it only --ranks are fitted, and the report says between which the smallest lies"
    )
    command.add_argument("--search", action="store_true", help=what)
    what = "tokens of the text, half of them to fit heads to; a rank needs four for each of its columns "
    command.number("--positions", low=2, default=1000, help=f"{what}(default: %(default)s)")
    what = "that a fit may take (default: %(default)s)"
    command.number("--memory", type=float, low=0, above=True, default=4, metavar="GIB", help=what)
    what = (
        "one sentence on a head of WIDTH columns, beside the largest of --ranks, which are WIDTH and twice that unless "
        "they are given"
    )
    command.number("--advice", low=1, metavar="WIDTH", help=what)
    what = "also how often the model accepts the drafts of small ones, by tokens kept and by rank"
    command.add_argument("--draft", action="store_true", help=what)
    kept = "tokens that a draft keeps, the commonest (default: a 32nd to half of the vocabulary)"
    command.number("--kept", type=numbers, low=1, metavar="K,K,...", help=kept)
    add_options(command)
    command.json("also write everything as JSON")
    return command


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; a `UserError` names one that cannot be, as far as is known without the model."""
    options = parser().parse_args(arguments)
    if options.kept and not options.draft:
        raise UserError("--kept: it is of drafts; add --draft, or leave it out")
    planned = () if options.advice is None else (options.advice,)
    given = options.ranks or (*planned, *(2 * width for width in planned)) or DEFAULT
    options.ranks = tuple(sorted({*given, *planned}))
    check_text(options.text, options.column)
    check_json(options.json, "truth", "ranks", "smallest")
    return options


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a list such as 4,8,16, each once, in order."""
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers such as 4,8,16") from error
