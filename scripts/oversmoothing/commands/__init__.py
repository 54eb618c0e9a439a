"""The command ``oversmoothing``: one module per subcommand, with a docstring for `--help` and a `main`."""

import argparse
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version

from oversmoothing.jobs import explain

COMMANDS = {
    "prompt": "continue a text with every trained model, side by side",
    "head": "measure the LM head of one model, a folder or a name on the hub, without a config",
    "size": "find how many columns a head needs for a text: what the best heads of each rank force",
    "page": "print the main table, and write the page of what there is, index.html",
    "compare-models": "measure how much a language model oversmooths beside another one",
    "frontier": "compare decoding methods of one model over all their settings, beside another model",
    "compare": "compare the tables and settings of two results folders",
    "needs": "print the operations, GPU hours, memory and disk space that a config needs",
    "progress": "print how far a run is while it goes on",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit status; a user's mistake, or Ctrl-C (130), is one line on standard error."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = argparse.ArgumentParser(
        prog="oversmoothing",
        description="Commands of the study of the softmax bottleneck.",
        epilog="commands:\n"
        + "\n".join(f"  {name:<16}{text}" for name, text in COMMANDS.items())
        + "\n\n`oversmoothing COMMAND --help` describes the arguments of a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"oversmoothing {version('oversmoothing')}")
    parser.add_argument("command", metavar="COMMAND", help="one of the commands below")
    command = parser.parse_args(given[:1]).command
    if command not in COMMANDS:
        near = get_close_matches(command, COMMANDS, n=1)
        parser.error(f"no command {command!r}; {f'did you mean {near[0]!r}?' if near else 'see --help'}")
    if (
        odd := next((word for word in given if re.search("[\ud800-\udfff]", word)), None)
        if command != "prompt"
        else None
    ):
        print(f"Error: {odd!r} is not UTF-8: rename the file or folder", file=sys.stderr)
        return 1
    try:
        return import_module(f"oversmoothing.commands.{command.replace('-', '_')}").main(given[1:])
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        print(f"Error: {message}", file=sys.stderr)
        return 1
