"""What was measured of one head, as a table for a terminal."""

from pathlib import Path
from textwrap import fill
from typing import Any

from oversmoothing.commands.one_head.measure import ENOUGH
from oversmoothing.commands.one_head.text import shown
from oversmoothing.data.tokens.vocabulary import as_ids, listed
from oversmoothing.printable import printable
from oversmoothing.tables.visible_bytes import OPEN_BOX, visible

LISTED = 10  # unargmaxable tokens
LABEL = 26  # characters of the first column
WIDTH = 80  # of a terminal
LEFT_OUT = (
    "Left out are TBAT and what the head forces: both need logits that are linear in what enters the head, and these "
    "are capped. The spectrum is that of the head before the cap, which keeps the order of the logits, so unargmaxable "
    "tokens are the same with it and without."
)

Row = tuple[str, str]


def report(measured: dict[str, Any]) -> str:
    """Return `measured`, with the parts of `schemas.head.SCHEMA`, as lines of labels and values under headings."""
    model, text = measured["model"], measured["text"]
    parts = [
        _model(measured),
        _spectrum(measured["spectrum"], model),
        text and _text(text, measured["tbat"]) + _forced(measured["forced"]),
        _directions(measured["directions"]),
        _near_mean(measured["near_mean"]),
        _ellipsoid(measured["ellipsoid"]) if model["cap"] is None else None,
        measured["unargmaxable"] and _unargmaxable(measured["unargmaxable"], model["tokens"]),
        measured["top_sets"] and _top_sets(measured["top_sets"]),
    ]
    lines = [
        "\n".join(["".join(heading), *(f"  {f'{label} ':<{LABEL}}{value}" for label, value in rows)])
        for heading, *rows in filter(None, parts)
    ]
    return "\n\n".join(lines if model["cap"] is None else [*lines, fill(LEFT_OUT, WIDTH)])


def _model(measured: dict[str, Any]) -> list[Row]:
    source, model = measured["source"], measured["model"]
    at = f" at {source['revision']}" if source["revision"] else ""
    at += f", commit {source['commit'][:12]}" if source["commit"] else ""
    bias = "a bias" if model["bias"] else "no bias"
    capped = "" if model["cap"] is None else f"; logits capped, {model['cap']:g} tanh(z / {model['cap']:g})"
    ids = as_ids(model["bos"])
    before = f"{'ids' if len(ids) > 1 else 'id'} {listed(ids)}" if ids else "no id"
    return [
        (printable(source["name"]), printable(at)),
        ("layers, width", f"{model['layers']:,}, {model['width']:,}"),
        ("vocabulary", f"{model['tokens']:,} tokens; {model['excluded']:,} special and padded ids are excluded"),
        ("head", f"{'tied to the embedding' if model['tied'] else 'not tied'}, {bias}{capped}"),
        ("run", f"{source['device']}, trunk in {source['precision']}; {before} before each passage"),
    ]


def _spectrum(spectrum: dict[str, Any], model: dict[str, Any]) -> list[Row]:
    count = len(spectrum["singular_values"])
    return [
        ("Spectrum of the head", f" ({model['tokens']:,} x {model['width']:,}, {count:,} singular values)"),
        *((name, f"{spectrum[name]:.4g}") for name in ("largest", "median", "smallest")),
        ("above 1 % of the largest", f"{spectrum['notable_share']:.1%}"),
        ("effective rank", f"{spectrum['effective_rank']:,.1f}"),
        ("numerical rank", f"{spectrum['numerical_rank']:,}"),
    ]


def _text(text: dict[str, Any], tbat: dict[str, Any] | None) -> list[Row]:
    where = f", {text['positions']:,} positions in {text['passages']} passages of {text['passage_tokens']} tokens"
    rows = [
        (printable(text["file"]), where),
        ("loss", f"{text['loss_per_token']:.3f} nats per token, {text['loss_per_byte']:.3f} nats per byte"),
        ("excluded ids", f"{text['special_mass']:.2%} of the probability"),
        ("gradient of the logits", f"{text['gradient_share']:.2%} of its squared norm passes the head"),
        ("", f"(a random head of this rank: {text['random_gradient_share']:.2%})"),
    ]
    return rows + (_tbat(tbat, text["passages"]) if tbat else [])


def _tbat(tbat: dict[str, Any], passages: int) -> list[Row]:
    """Return the mean with its interval, or with the range of the values and how to get an interval."""
    interval, n = tbat["interval"], tbat["positions"]
    mean, more = f"[{tbat['low']:.4f}, {tbat['high']:.4f}]", []
    if interval["low"] is not None:
        mean += f", mean of {n} positions, 95 % [{interval['low']:.3f}, {interval['high']:.3f}]"
    else:
        least, most = min(value["low"] for value in tbat["values"]), max(value["high"] for value in tbat["values"])
        mean += f", mean of {n} positions, each in [{least:.4f}, {most:.4f}]" if n > 1 else ", one position"
        how = f"--tbat {ENOUGH}" if passages >= ENOUGH else "a longer text"
        more = [("", f"(no interval: it needs positions in {ENOUGH} passages, not {tbat['passages']}; give {how})")]
    return [
        ("TBAT", mean),
        *more,
        ("", f"(delta {tbat['delta']:.4g} nats; {tbat['undecided']:,.1f} tokens undecided per position)"),
    ]


def _forced(forced: dict[str, Any] | None) -> list[Row]:
    if not forced:
        return []
    where = f"{forced['positions']} positions in {forced['passages']} passages"
    kl = f"KL to {printable(Path(forced['truth']['name']).name)}", f"{shown(forced['kl'], 'mean', '.3f')} nats"
    if forced["forced"] is None:
        return [kl, ("", f"({where})")]
    share = f" ({forced['share']['mean']:.0%})" if forced["share"] else ""
    at = "all" if forced["proved"] == forced["positions"] else forced["proved"]
    proved = f"the forced part is proved to 0.1 % at {at}, largest gap {forced['gap']:.1g} nats"
    return [
        (kl[0], f"{kl[1]}, of which this head forces {shown(forced['forced'], 'mean', '.3f')}{share}"),
        ("", f"({where}; {proved})"),
    ]


def _unargmaxable(unargmaxable: dict[str, Any], tokens: int) -> list[Row]:
    low, high = unargmaxable["low"], unargmaxable["high"]
    named = _named(unargmaxable["proved"][:LISTED])
    more = f" and {low - LISTED:,} more" if low > LISTED else ""
    rows = [
        ("Unargmaxable tokens", ", which no hidden state makes the most probable"),
        ("proved", f"{low:,} of {tokens:,}"),
        ("undecided", f"{high - low:,}" + (f"; so between {low:,} and {high:,}" if high > low else "")),
    ]
    return [*rows, ("the first", f"{named}{more}")] if named else rows


def _directions(directions: list[dict[str, Any]]) -> list[Row]:
    rows = [("Tokens at both ends", " of the leading directions in which rows of the head differ")]
    for number, direction in enumerate(directions, 1):
        rows.append((f"direction {number}, {direction['share']:.1%}", _named(direction["high"])))
        rows.append(("", _named(direction["low"])))
    return rows


def _near_mean(near: dict[str, Any]) -> list[Row]:
    nearest = near["nearest"]
    spread = [f"{token['distance'] / (near['median'] or 1):.2f}" for token in (nearest[0], nearest[-1])]
    half = len(nearest) // 2
    return [
        ("Rows near the mean row", ", as those of tokens that no text trained"),
        (f"nearer than {near['threshold']:g} medians", f"{near['below']:,} (median distance {near['median']:.4g})"),
        ("the nearest", _named(nearest[:half])),
        ("", _named(nearest[half:])),
        ("", f"(at {spread[0]} to {spread[1]} medians)"),
    ]


def _ellipsoid(ellipsoid: dict[str, Any] | None) -> list[Row]:
    heading = ("Logits behind the last norm", ", less their mean: an ellipsoid")
    if ellipsoid is None:
        return [heading, ("norm", "none found in front of the head, so logits have no bound")]
    ratio = "" if ellipsoid["ratio"] is None else f", {ellipsoid['ratio']:,.1f} times the shortest"
    return [
        heading,
        ("norm", f"{ellipsoid['norm']}; {ellipsoid['axes']:,} semi-axes"),
        ("longest", f"{ellipsoid['longest']:,.4g} nats over all tokens{ratio}"),
        ("shortest", f"{ellipsoid['shortest']:,.4g} nats"),
    ]


def _top_sets(top_sets: dict[str, Any]) -> list[Row]:
    of = "likeliest tokens of the truth" if top_sets["source"] == "truth" else "random common tokens of the text"
    rows = [("Sets of tokens", f" that some hidden state ranks above all others: {of}")]
    for size in top_sets["sizes"]:
        counts = f"{size['possible']} of {size['sets']} possible, {size['impossible']} proved impossible"
        rows.append((f"top {size['k']}", f"{counts}, {size['undecided']} undecided"))
    return rows


def _named(tokens: list[dict[str, Any]]) -> str:
    return "  ".join(visible(token["text"].encode()).replace(" ", OPEN_BOX) for token in tokens)
