"""Find how many columns an LM head needs: what the best heads of each rank force of a truth's predictions of a text."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from tqdm import tqdm

from oversmoothing.commands.one_head import draft
from oversmoothing.commands.one_head.forced import distributions_at
from oversmoothing.commands.one_head.size import Size, Sizes, refusal
from oversmoothing.commands.one_head.source import find_model, tokenizer_of
from oversmoothing.commands.one_head.source import load as load_model
from oversmoothing.commands.one_head.text import Passage, owners, passages
from oversmoothing.commands.one_model import TEXT, add_options, check_json, compute_of, tell
from oversmoothing.commands.output import check_output
from oversmoothing.data.files import read_beginning
from oversmoothing.data.tokens.text import encode
from oversmoothing.jobs import UserError
from oversmoothing.models.device import Compute
from oversmoothing.models.truths.token_model import TokenModel
from oversmoothing.printable import printable

TARGETS = 0.1, 0.01, 0.001  # nats
PASSAGES = 32
PICTURES = ".png", ".svg", ".pdf"
LOOSE = 1e-3  # nats: a proved error from which on the report names it
WIDTH = 80  # of a terminal
RANKS = "to fit; one that forces nothing is shown as the smallest that forces nothing (default: 4,8,16,32)"


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(arguments)
    measured = run(options)
    course = measured.pop("course", None)
    if options.draft:
        draw(options.draft, measured, course)
    tell(report(measured), measured, options.json)
    return 0


def parser() -> argparse.ArgumentParser:
    """Parser of the command's arguments."""
    example = "example: oversmoothing size --truth EleutherAI/pythia-70m --text book.txt"
    command = argparse.ArgumentParser(prog="oversmoothing size", description=__doc__, epilog=example)
    what = (
        "the model whose predictions a head should give: a folder in the Hugging Face format, a .gguf file, a name on "
        "the hub, which is fetched once, or RESULTS/models/NAME of a study over bytes"
    )
    command.add_argument("--truth", required=True, metavar="MODEL", help=what)
    command.add_argument("--text", required=True, metavar="FILE", help=TEXT)
    command.add_argument("--ranks", type=_numbers, default=(4, 8, 16, 32), metavar="R,R,...", help=RANKS)
    what = (
        "find the smallest ranks that force at most 0.1, 0.01 and 0.001 nats, by doubling and bisection, which fits "
        "further ranks; without it only --ranks are fitted, and the report says between which the smallest lies"
    )
    command.add_argument("--search", action="store_true", help=what)
    what = "tokens of the text, half of them to fit heads to; a rank needs four for each of its columns "
    command.add_argument("--positions", type=int, default=1000, metavar="N", help=f"{what}(default: %(default)s)")
    what = "that a fit may take (default: %(default)s)"
    command.add_argument("--memory", type=float, default=4, metavar="GIB", help=what)
    what = "how often the model accepts the drafts of small ones, by tokens kept and by rank; FILE: also as a picture"
    command.add_argument("--draft", nargs="?", const="", metavar="FILE", help=f"{what} (.png, .svg or .pdf)")
    kept = "tokens that a draft keeps, the commonest (default: a 32nd to half of the vocabulary)"
    command.add_argument("--kept", type=_numbers, metavar="K,K,...", help=kept)
    add_options(command)
    return command


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Load what the arguments name and fit heads; return what `--json` writes."""
    if options.positions < 2:
        raise UserError(f"--positions {options.positions} must be at least 2")
    if not options.memory > 0:
        raise UserError(f"--memory {options.memory} must be more than 0")
    check_json(options.json, "truth", "ranks", "smallest")
    if options.kept and options.draft is None:
        raise UserError("--kept: it is of drafts; add --draft, or leave it out")
    if options.draft:
        check_picture(options.draft)
    model, tokens, source = load(options, read_beginning(options.text, options.column), compute := compute_of(options))
    chosen = passages(tokens, model.config.block, options.positions, options.text, PASSAGES)
    passage = owners(chosen)
    if len(chosen) < 2:
        raise UserError(f"{options.text}: one passage alone cannot be divided; give a longer text or more --positions")
    rows, width = model.head.weight.shape
    bias, cap = model.head.bias is not None, model.cap
    columns = width + bias if cap is None else rows - 1  # capped logits lie in no smaller space
    memory = options.memory * 2**30
    for rank in options.ranks:  # refused before the model is run
        if rank < columns and (why := refusal(int((passage % 2 == 0).sum()), rows, rank, memory)):
            raise UserError(f"--ranks {rank}: {why}")
    with tqdm(unit=" steps", leave=False, disable=None, bar_format="{desc}: {n_fmt} steps, {elapsed}") as shown:
        began = time.monotonic()

        def begin(rank: int) -> Callable[[], object]:
            shown.set_description_str(f"rank {rank}")
            shown.reset()
            return shown.update

        def ended(size: Size) -> None:
            after = tqdm.format_interval(time.monotonic() - began)
            tqdm.write(f"rank {size.rank}: forces at most {size.forced:.3g} nats, {after} so far", file=sys.stderr)

        p = distributions_at(model, chosen, np.arange(len(passage)), compute.precision)
        sizes = Sizes(p, passage, columns, memory, begin, ended)
        by_rank = [sizes.of(rank) for rank in options.ranks]
        smallest = [needed(sizes, nats, options.search) for nats in TARGETS]
    drafted = (
        {} if options.draft is None else drafts(sizes, tokens, chosen, options.kept, [row.rank for row in by_rank])
    )
    return {
        "truth": source | compute.facts | {"tokens": rows, "width": width, "bias": bias, "cap": cap},
        "text": {"file": options.text, "fitted": len(sizes.fitted), "held": len(sizes.held), "passages": len(chosen)},
        "ranks": [_row(size) for size in by_rank],
        "smallest": smallest,
        "searched": options.search,
        **drafted,
    }


def needed(sizes: Sizes, nats: float, search: bool) -> dict[str, Any]:
    """Return the smallest rank known to force at most so much, and the largest below it known to force more, or 0.

    With a search the one follows the other, or `rank` is None, because larger ranks could not be fitted.
    """
    beyond = search and sizes.smallest(nats) is None
    low, high = sizes.bracket(nats)
    return {"nats": nats, "above": low, "rank": None if beyond else high}


def drafts(
    sizes: Sizes, tokens: np.ndarray, chosen: Sequence[Passage], kept: Sequence[int] | None, ranks: Sequence[int]
) -> dict[str, Any]:
    """Return the part ``draft`` of the JSON, and the ``course`` of the picture: mean mass by number of tokens kept.

    `tokens` are those of the text, `chosen` its passages, of which the odd ones were held out.
    """
    v = sizes.held.shape[1]
    order = draft.order_of(draft.counted(tokens, chosen[1::2], v))
    numbers = kept or draft.usual(v)
    by_kept = draft.by_kept(sizes.held, sizes.passage, order, numbers)
    rows = {"kept": by_kept, "ranks": [sizes.accepted[rank] for rank in ranks]}
    part = {name: [asdict(row) for row in own] for name, own in rows.items()}
    return {
        "draft": {"seen": len(order), "beyond": [k for k in numbers if k > len(order)], **part},
        "course": draft.course(sizes.held, order),
    }


def check_picture(path: str) -> None:
    """Raise a `UserError` if a picture cannot be written there, or would replace a file."""
    if Path(path).suffix not in PICTURES:
        raise UserError(f"--draft {path}: no picture; end its name in {', '.join(PICTURES)}, or give --draft alone")
    earlier = Path(path).is_file() and draft.TITLE.encode() in Path(path).read_bytes()
    if not earlier:
        check_output("--draft", path, lambda text: False)


def draw(path: str, measured: dict[str, Any], course: np.ndarray) -> None:
    """Write the picture of the part ``draft`` of what `run` returns."""
    from oversmoothing.commands.one_head import draft_picture  # with Matplotlib, which takes a second
    from oversmoothing.tables.figures.style import write_figure

    part = measured["draft"]
    name = Path(measured["truth"]["name"]).name
    write_figure(draft_picture.draw(course, part["kept"], part["ranks"], name), [path])


def load(options: argparse.Namespace, text: str, compute: Compute) -> tuple[TokenModel, np.ndarray, dict[str, Any]]:
    """Return the truth, the text's tokens and what is known of the truth's files."""
    source = find_model(options.truth, options.revision, options.assets)
    tokenizer, vocabulary = tokenizer_of(source.folder)
    truth = load_model(source.folder, options.truth, vocabulary, options.bos, compute)
    files = {"name": options.truth} | source._asdict() | {"folder": str(source.folder), "bos": truth.bos}
    return truth, encode(tokenizer, vocabulary, text, options.text), files


def report(measured: dict[str, Any]) -> str:
    """Lay out what `run` returns, for a terminal of 80 columns."""
    truth, text = measured["truth"], measured["text"]
    name = printable(Path(truth["name"]).name)
    capped = "" if truth["cap"] is None else ", and its logits are capped"
    gap = max((row["gap"] for row in measured["ranks"]), default=0)
    loose = "" if gap < LOOSE else f" At one position or more the value may be too high by up to {gap:.2g} nats."
    lines = [
        f"What the best heads of a rank force, if {name} is the truth of {printable(text['file'])}",
        f"  vocabulary   {truth['tokens']:,} tokens; the truth's own head has {truth['width']:,} columns{capped}",
        f"  positions    {text['fitted']:,} that heads are fitted to, {text['held']:,} in other passages",
        "",
        "  rank  forces at most, nats [95 % interval]  where fitted",
        *(_line(row) for row in measured["ranks"]),
        "",
        *(f"  at most {row['nats']:g} nats: {_needed(row)}" for row in measured["smallest"]),
        *([] if measured["searched"] else ["  No other rank was fitted; --search finds the smallest."]),
        "",
        fill(
            "A rank forces the KL divergence from the truth that is left when every hidden state is the best one. "
            "These are upper bounds: a better head of the rank may exist, and where a value is well above that of the "
            "fitted positions, more --positions lower it. They hold for this truth and this text, and a trunk must "
            f"still learn what to give its head.{loose}",
            WIDTH,
        ),
        *(_drafts(measured["draft"], name) if "draft" in measured else ()),
    ]
    return "\n".join(lines)


def _drafts(part: dict[str, Any], name: str) -> list[str]:
    """Lines of the table of drafts."""
    rows = [("tokens kept", "at most", part["kept"]), ("columns", "", part["ranks"])]
    note = (
        f"Speculative sampling accepts a draft at most as often as {name} draws one of the tokens that the draft "
        f"keeps: the commonest of the {part['seen']:,} in the text, outside the passages where this is measured. Of a "
        "head of few columns it is 1 - TV, with the heads above, at the hidden states of least KL."
    )
    if part["beyond"]:
        numbers = ", ".join(f"{k:,}" for k in sorted(part["beyond"]))
        note += f" The text has too few different tokens for {numbers} tokens kept: give a longer one."
    return [
        "",
        f"How often {name} accepts a draft [95 % interval]",
        *(f"  {size['size']:>7,} {what:<13}{most:>8} {_accepted(size)}" for what, most, own in rows for size in own),
        "",
        fill(note, WIDTH),
    ]


def _accepted(row: dict[str, Any]) -> str:
    interval = "" if row["low"] is None else f" [{row['low']:.4f}, {row['high']:.4f}]"
    return f"{row['acceptance']:.4f}{interval}"


def _line(row: dict[str, Any]) -> str:
    interval = "" if row["low"] is None else f" [{row['low']:.3g}, {row['high']:.3g}]"
    return f"  {row['rank']:>4}  {row['forced']:.3g}{interval}".ljust(46) + f"{row['fitted']:.3g}"


def _needed(row: dict[str, Any]) -> str:
    if row["rank"] is None:
        return "more columns than could be fitted (more --positions, or --memory)"
    alone = row["above"] == row["rank"] - 1
    return f"rank {row['rank']:,}" if alone else f"rank {row['above'] + 1:,} to {row['rank']:,}"


def _row(size: Size) -> dict[str, Any]:
    return {key: None if isinstance(value, float) and isnan(value) else value for key, value in asdict(size).items()}


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers such as 4,8,16") from error
    if numbers[0] < 1:
        raise argparse.ArgumentTypeError(f"{numbers[0]} is too small; write numbers from 1")
    return tuple(numbers)
