"""Measure the LM head of one model: spectrum, unargmaxable tokens, and on a text loss, gradient, TBAT and forced KL."""

import argparse
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from tqdm import tqdm

from oversmoothing.commands.one_head.forced import distributions_at
from oversmoothing.commands.one_head.measure import measure_model
from oversmoothing.commands.one_head.report import report
from oversmoothing.commands.one_head.text import passages
from oversmoothing.commands.one_model import compute_of, tell
from oversmoothing.data.files import read_beginning
from oversmoothing.data.tokens.alike import check_alike
from oversmoothing.data.tokens.special import tell_special_names
from oversmoothing.data.tokens.text import encode
from oversmoothing.hub.names import is_studied
from oversmoothing.models.source import described, files, find_model, load, tokenizer_of
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.printable import printable


def main(options: argparse.Namespace) -> int:
    """Measure what the arguments name (`arguments.head`), print it, and return the exit status."""
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
