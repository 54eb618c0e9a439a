"""Find how many columns an LM head needs: what the best heads of each rank force of a truth's predictions of a text."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from oversmoothing.commands.one_head.forced import distributions_at
from oversmoothing.commands.one_head.size import Size, Sizes, by_kept, of_nearest_vocabulary, order_of, refusal
from oversmoothing.commands.one_head.text import Passage, owners, passages, shown
from oversmoothing.commands.one_model import compute_of, tell
from oversmoothing.data.files import read_beginning
from oversmoothing.data.tokens.special import tell_special_names
from oversmoothing.data.tokens.text import encode
from oversmoothing.data.tokens.vocabulary import as_before
from oversmoothing.jobs import UserError
from oversmoothing.models.source import files, find_model, load, tokenizer_of
from oversmoothing.printable import printable

TARGETS = 0.1, 0.01, 0.001  # nats
PASSAGES = 32
PARTS = 32, 16, 8, 4, 2  # of the vocabulary, which drafts keep unless numbers are given
LOOSE = 1e-3  # nats: a proved error from which on the report names it
WIDTH = 80  # of a terminal


def main(options: argparse.Namespace) -> int:
    """Fit what the arguments name (`arguments.size`), print it, and return the exit status."""
    measured = run(options)
    tell(report(measured), measured, options.json)
    return 0


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Load what the arguments name and fit heads; return what `--json` writes."""
    compute, text = compute_of(options), read_beginning(options.text, options.column, split_on=options.split_on)
    source = find_model(options.truth, options.revision, options.assets)
    tokenizer, vocabulary = tokenizer_of(source.folder)
    model = load(source.folder, options.truth, vocabulary, options.bos, compute)
    tell_special_names([tokenizer], text.encode(), options.text)
    tokens = encode(tokenizer, vocabulary, text, options.text)
    chosen = passages(tokens, model.config.block, options.positions, options.text, PASSAGES)
    passage = owners(chosen)
    if len(chosen) < 2:
        raise UserError(f"{options.text}: one passage alone cannot be divided; give a longer text or more --positions")
    if options.advice and len(chosen) < 4:
        raise UserError(
            f"{options.text}: --advice names no number without its interval, which needs 4 passages, not "
            f"{len(chosen)}; give a longer text or more --positions"
        )
    rows, width = model.head.weight.shape
    bias, cap = model.head.bias is not None, model.cap
    columns = width + bias if cap is None else rows - 1  # capped logits lie in no smaller space
    memory = options.memory * 2**30
    for rank in options.ranks:  # refused before the model is run
        if rank < columns and (why := refusal(int((passage % 2 == 0).sum()), rows, rank, memory)):
            raise UserError(f"--ranks {rank}: {why}")
    p = distributions_at(model, chosen, np.arange(len(passage)), compute.precision)
    sizes = Sizes(p, passage, columns, memory)
    by_rank = [sizes.of(rank) for rank in options.ranks]
    smallest = [needed(sizes, nats, options.search) for nats in TARGETS]
    measured = {
        "truth": files(options.truth, source)
        | compute.facts
        | {"bos": as_before(model.bos), "tokens": rows, "width": width, "bias": bias, "cap": cap},
        "text": {"file": options.text, "fitted": len(sizes.fitted), "held": len(sizes.held), "passages": len(chosen)},
        "ranks": [asdict(size) for size in by_rank],
        "smallest": smallest,
        "searched": options.search,
    }
    if beside := of_nearest_vocabulary(rows):
        measured["vocabularies"] = beside
    if options.advice:
        measured["advice"] = advice(by_rank, min(options.advice, sizes.full), rows)
    ranks = [size.rank for size in by_rank]
    return measured | ({"draft": drafts(sizes, tokens, chosen, options.kept, ranks)} if options.draft else {})


def needed(sizes: Sizes, nats: float, search: bool) -> dict[str, Any]:
    """Return the smallest rank known to force at most so much, and the largest below it known to force more, or 0.

    With a search the one follows the other, or `rank` is None, because larger ranks could not be fitted.
    """
    beyond = search and sizes.smallest(nats) is None
    low, high = sizes.bracket(nats)
    return {"nats": nats, "above": low, "rank": None if beyond else high}


def advice(by_rank: Sequence[Size], width: int, tokens: int) -> str:
    """Return what a head of a planned width forces, beside the largest rank, in one sentence with both intervals."""
    planned = next(size for size in by_rank if size.rank == width)
    largest = max(by_rank, key=lambda size: size.rank)
    told = f"A head of {width:,} dimensions over {tokens:,} tokens forces {_at_most(planned)} a token of this truth"
    return f"{told}; {largest.rank:,} would force {_at_most(largest)}." if largest.rank > width else f"{told}."


def _at_most(size: Size) -> str:
    row = asdict(size)
    return f"at most {shown(row, 'forced', '.3g')} nats" if size.forced else "nothing, 0 nats"


def drafts(
    sizes: Sizes, tokens: np.ndarray, chosen: Sequence[Passage], kept: Sequence[int] | None, ranks: Sequence[int]
) -> dict[str, Any]:
    """Return the part ``draft`` of the JSON, of a text and its passages, of which the odd ones were held out."""
    order = order_of(tokens, chosen[1::2])
    numbers = kept or [k for part in PARTS if (k := sizes.held.shape[1] // part)]
    return {
        "seen": len(order),
        "beyond": [k for k in numbers if k > len(order)],
        "kept": [asdict(row) for row in by_kept(sizes.held, sizes.passage, order, numbers)],
        "ranks": [asdict(sizes.accepted[rank]) for rank in ranks],
    }


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
        *(
            f"  {row['rank']:>4}  {shown(row, 'forced', '.3g')}".ljust(46) + f"{row['fitted']:.3g}"
            for row in measured["ranks"]
        ),
        "",
        *(f"  at most {row['nats']:g} nats: {_needed(row)}" for row in measured["smallest"]),
        *([] if measured["searched"] else ["  No other rank was fitted; --search finds the smallest."]),
        *_of_nearest(measured.get("vocabularies", [])),
        "",
        fill(
            "A rank forces the KL divergence from the truth that is left when every hidden state is the best one. "
            "These are upper bounds: a better head of the rank may exist, and where a value is well above that of the "
            "fitted positions, more --positions lower it. They hold for this truth and this text, and a trunk must "
            f"still learn what to give its head.{loose}",
            WIDTH,
        ),
        *(_drafts(measured["draft"], name) if "draft" in measured else ()),
        *(["", fill(measured["advice"], WIDTH)] if "advice" in measured else ()),
    ]
    return "\n".join(lines)


def _of_nearest(rows: Sequence[dict[str, str]]) -> list[str]:
    """Lines of what the kept run says of the nearest vocabulary."""
    if not rows:
        return []
    tokens = int(rows[0]["vocabulary"])
    lines = [f"  at most {row['nats']} nats: rank {row['rank']}, if {row['truth']} is the truth" for row in rows]
    return ["", f"  In a kept run, on another text, over {tokens:,} tokens:", *lines]


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
        *(
            f"  {size['size']:>7,} {what:<13}{most:>8} {shown(size, 'acceptance', '.4f')}"
            for what, most, own in rows
            for size in own
        ),
        "",
        fill(note, WIDTH),
    ]


def _needed(row: dict[str, Any]) -> str:
    if row["rank"] is None:
        return "more columns than could be fitted (more --positions, or --memory)"
    alone = row["above"] == row["rank"] - 1
    return f"rank {row['rank']:,}" if alone else f"rank {row['above'] + 1:,} to {row['rank']:,}"
