"""Measure the LM head of one model: spectrum, unargmaxable tokens, and on a text loss, gradient, TBAT and forced KL."""

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from tqdm import tqdm

from oversmoothing.bat import DELTA, LARGEST_DELTA
from oversmoothing.commands.one_head.forced import distributions_at
from oversmoothing.commands.one_head.measure import measure_model
from oversmoothing.commands.one_head.report import report
from oversmoothing.commands.one_head.schema import SCHEMA
from oversmoothing.commands.one_head.source import described, files, find_model, load, tokenizer_of
from oversmoothing.commands.one_head.text import passages
from oversmoothing.commands.one_model import TEXT, add_options, check_json, compute_of, tell
from oversmoothing.data.files import read_beginning
from oversmoothing.data.tokens.alike import check_alike
from oversmoothing.data.tokens.special import tell_special_names
from oversmoothing.data.tokens.text import encode
from oversmoothing.hub.names import is_studied
from oversmoothing.jobs import UserError
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.printable import printable


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    if "--schema" in arguments:
        print(json.dumps(SCHEMA, indent=2))
        return 0
    example = "example: oversmoothing head EleutherAI/pythia-70m --text book.txt --json head.json"
    command = argparse.ArgumentParser(prog="oversmoothing head", description=__doc__, epilog=example)
    number = partial(command.add_argument, type=int, metavar="N")
    what = (
        "a folder in the Hugging Face format, a .gguf file, a name on the hub, which is fetched once, or "
        "RESULTS/models/NAME of a study over bytes"
    )
    command.add_argument("model", help=what)
    command.add_argument("--text", metavar="FILE", help=f"{TEXT}; none: the head alone")
    number("--positions", default=64, help="tokens of the text to predict (default: %(default)s)")
    what = "how many of them get a TBAT (default: %(default)s; seconds each in a large head; 0: none)"
    number("--tbat-positions", "--tbat", default=2, help=what)
    what = "a model with the same tokenizer: how far MODEL is from it, and how much of that any model with this head "
    command.add_argument("--truth", metavar="TRUTH", help=f"{what}would be")
    what = "how many of the positions are compared with TRUTH (default: %(default)s; seconds each in a large head)"
    number("--forced-positions", default=16, help=what)
    command.add_argument("--delta", type=float, default=DELTA, help="of BAT, in nats (default: %(default).4g)")
    what = "probability that BAT may leave undecided (default: %(default)s)"
    command.add_argument("--mass-tolerance", type=float, default=1e-2, metavar="P", help=what)
    what = "skip the tokens and sets that can never be the most probable, which can take minutes"
    command.add_argument("--no-unargmaxable", action="store_true", help=what)
    add_options(command)
    command.add_argument("--schema", action="store_true", help="print the JSON Schema of that file and exit")
    options = command.parse_args(arguments)
    _check(options)
    measured, marks = run(options)
    tell(f"{report(measured)}\n\n{seconds(marks)}", measured, options.json)
    return 0


def seconds(marks: Iterable[tuple[str, float]]) -> str:
    """Return how many seconds of processor each part took, of all threads, until the next one began."""
    spent: dict[str, float] = {}
    for (part, since), (_, until) in pairwise(marks):
        spent[part] = spent.get(part, 0.0) + until - since
    parts = ", ".join(f"{part} {took:.1f}" for part, took in spent.items())
    return f"Seconds of processor: {parts}; {sum(spent.values()):.1f} in all"


def run(options: argparse.Namespace) -> tuple[dict[str, Any], list[tuple[str, float]]]:
    """Load what the arguments name and measure it; return what `schema.SCHEMA` describes, and when each part began."""
    compute, marks = compute_of(options), [("start", 0.0)]
    with tqdm(bar_format="step {n_fmt}, after {elapsed}: {desc}", leave=False, disable=None) as shown:

        def begin(part: str, step: str) -> None:
            marks.append((part, time.process_time()))
            shown.set_description_str(printable(step), refresh=False)
            shown.update()
            shown.refresh()

        begin("load", "the model's files")
        text = read_beginning(options.text, options.column, split_on=options.split_on) if options.text else None
        source = find_model(options.model, options.revision, options.assets)
        truth = find_model(options.truth, None, options.assets) if options.truth else None
        begin("load", "the model's tokens and weights")
        tokenizer, vocabulary = tokenizer_of(source.folder)
        folders = {options.model: source.folder} | ({options.truth: truth.folder} if truth else {})
        block = min(each.context for each in described(folders, options.model, options.bos).values())
        if text is not None:
            tell_special_names([tokenizer], text.encode(), options.text)
        tokens = None if text is None else encode(tokenizer, vocabulary, text, options.text)
        chosen = [] if tokens is None else passages(tokens, block, options.positions, options.text)
        p = None
        if truth:
            if not is_studied(truth.folder):  # which reads bytes, as `described` has checked
                texts = (vocabulary.decode(passage.tokens.tolist()).decode(errors="ignore") for passage in chosen)
                check_alike(tokenizer, truth.folder, options.truth, texts)
            begin("truth", f"{options.truth} on the text")
            other = load(truth.folder, options.truth, vocabulary, options.bos, compute)
            at = positions_of(options.positions, options.forced_positions)
            p = distributions_at(other, chosen, at, compute.precision)
            del other
            begin("load", "the model's weights")
        model = load(source.folder, options.model, vocabulary, options.bos, compute)
        measured = measure_model(model, vocabulary, chosen, options, compute.precision, begin, p)
    marks.append(("", time.process_time()))
    if tokens is not None:
        measured["text"] |= {"file": options.text, "tokens": len(tokens)}
    if truth:
        measured["forced"]["truth"] = files(options.truth, truth)
    return measured | {"source": files(options.model, source) | compute.facts}, marks


def _check(options: argparse.Namespace) -> None:
    """Raise a `UserError` for a number out of bounds, or a file that cannot be written."""
    for option, least in ("positions", 1), ("forced-positions", 1), ("tbat-positions", 0):
        if (value := getattr(options, option.replace("-", "_"))) < least:
            raise UserError(f"--{option} {value} must be at least {least}")
    if options.truth and not options.text:
        raise UserError(f"--truth {options.truth}: both models are run on a text; name one with --text")
    if not 0 <= options.delta <= LARGEST_DELTA:
        raise UserError(f"--delta {options.delta} lies outside 0 to {LARGEST_DELTA:g}")
    if not 0 <= options.mass_tolerance <= 1:
        raise UserError(f"--mass-tolerance {options.mass_tolerance} is no probability")
    check_json(options.json, "source", "model", "spectrum")
