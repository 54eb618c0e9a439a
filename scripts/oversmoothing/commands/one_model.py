"""What the commands that run one model without a config share: options, what they choose, and how they report."""

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oversmoothing.commands.options import TEXT as ANY_TEXT
from oversmoothing.commands.options import add_options as add_common
from oversmoothing.commands.output import beside, check_output, write_output
from oversmoothing.jobs import UserError
from oversmoothing.printable import printable_lines
from oversmoothing.store.atomic import json_text

if TYPE_CHECKING:
    from oversmoothing.models.device import Compute

TEXT = f"{ANY_TEXT}. Its first MiB is read"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the text's column, where the model comes from, and how it is run."""
    add_common(parser, "auto", "of the trunk")
    parser.add_argument("--revision", metavar="R", help="branch, tag or commit on the hub (default: main)")
    parser.add_argument("--assets", default="assets", metavar="FOLDER", help="of fetched models (default: %(default)s)")


def compute_of(options: argparse.Namespace) -> "Compute":
    """Return the device and precision that the options ask for."""
    import torch

    from oversmoothing.models.device import setup

    if options.device == "cuda" and not torch.cuda.is_available():
        raise UserError("--device cuda: PyTorch sees no GPU here; use auto or cpu")
    return setup(options.device, {"precision": options.precision, "threads": torch.get_num_threads()})


def check_json(path: str | None, *parts: str) -> None:
    """Raise a `UserError` if a file cannot be written at the end, or is none of an earlier call, with these parts."""
    check_output("--json", path, lambda text: set(parts) <= set(json.loads(text)))


def tell(report: str, measured: Mapping[str, Any], path: str | None) -> None:
    """Print a report, and write the numbers behind it where `--json` says."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    with beside(path):
        print(printable_lines(report), flush=True)
    if path:
        write_output("--json", path, json_text(f"--json {path}", measured))
