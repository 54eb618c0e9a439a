"""What was measured of one head, as a table for a terminal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oversmoothing.tables.visible_bytes import OPEN_BOX, visible

LISTED = 10  # unargmaxable tokens
LABEL = 26  # characters of the first column

Row = tuple[str, str]


def report(found: dict[str, Any]) -> str:
    """Return `found`, with the parts of `one_head.schema.SCHEMA`, as lines of labels and values under headings."""
    parts = [_model(found), _spectrum(found["spectrum"], found["model"])]
    parts += [_text(found["text"], found["tbat"]) + _forced(found["forced"])] if found["text"] else []
    parts += [_unargmaxable(found["unargmaxable"], found["model"]["tokens"])] if found["unargmaxable"] else []
    return "\n\n".join("\n".join(_lines(rows)) for rows in parts)


def _lines(rows: list[Row]) -> Iterator[str]:
    """Yield the first row, which is a heading, and the others below it."""
    yield "".join(rows[0])
    for label, value in rows[1:]:
        yield f"  {f'{label} ':<{LABEL}}{value}"


def _model(found: dict[str, Any]) -> list[Row]:
    source, model = found["source"], found["model"]
    at = f" at {source['revision']}, commit {source['commit'][:12]}" if source["commit"] else ""
    before = "" if model["bos"] is None else f"; id {model['bos']} before each passage"
    return [
        (source["name"], at),
        ("layers, width", f"{model['layers']:,}, {model['width']:,}"),
        ("vocabulary", f"{model['tokens']:,} tokens; {model['excluded']:,} special and padded ids are excluded"),
        ("head", f"{'tied to the embedding' if model['tied'] else 'not tied'}, {'a' if model['bias'] else 'no'} bias"),
        ("run", f"{source['device']}, trunk in {source['precision']}{before}"),
    ]


def _spectrum(own: dict[str, Any], model: dict[str, Any]) -> list[Row]:
    count = len(own["singular_values"])
    return [
        ("Spectrum of the head", f" ({model['tokens']:,} x {model['width']:,}, {count:,} singular values)"),
        ("largest", f"{own['largest']:.4g}"),
        ("median", f"{own['median']:.4g}"),
        ("smallest", f"{own['smallest']:.4g}"),
        ("above 1 % of the largest", f"{own['notable_share']:.1%}"),
        ("effective rank", f"{own['effective_rank']:,.1f}"),
        ("numerical rank", f"{own['numerical_rank']:,}"),
    ]


def _text(own: dict[str, Any], tbat: dict[str, Any] | None) -> list[Row]:
    rows = [
        (
            own["file"],
            f", {own['positions']:,} positions in {own['passages']} passages of {own['passage_tokens']} tokens",
        ),
        ("loss", f"{own['loss_per_token']:.3f} nats per token, {own['loss_per_byte']:.3f} nats per byte"),
        ("excluded ids", f"{own['special_mass']:.2%} of the probability"),
        ("gradient of the logits", f"{own['gradient_share']:.2%} of its squared norm passes the head"),
        ("", f"(a random head of this rank: {own['random_gradient_share']:.2%})"),
    ]
    if tbat:
        rows += [
            ("TBAT", f"[{tbat['low']:.4f}, {tbat['high']:.4f}], mean of {tbat['positions']} positions"),
            ("", f"(delta {tbat['delta']:.4g} nats; {tbat['undecided']:,.1f} tokens undecided per position)"),
        ]
    return rows


def _forced(own: dict[str, Any] | None) -> list[Row]:
    if not own:
        return []
    share = f" ({own['share']['mean']:.0%})" if own["share"] else ""
    at = "all" if own["proved"] == own["positions"] else own["proved"]
    return [
        (
            f"KL to {Path(own['truth']['name']).name}",
            f"{_mean(own['kl'])} nats, of which this head forces {_mean(own['forced'])}{share}",
        ),
        (
            "",
            f"({own['positions']} positions in {own['passages']} passages; the forced part is proved to 0.1 % at {at}, "
            f"largest gap {own['gap']:.1g} nats)",
        ),
    ]


def _mean(own: dict[str, Any]) -> str:
    interval = "" if own["low"] is None else f" [{own['low']:.3f}, {own['high']:.3f}]"
    return f"{own['mean']:.3f}{interval}"


def _unargmaxable(own: dict[str, Any], tokens: int) -> list[Row]:
    low, high = own["low"], own["high"]
    named = [visible(token["text"].encode()).replace(" ", OPEN_BOX) for token in own["proved"][:LISTED]]
    more = f" and {low - LISTED:,} more" if low > LISTED else ""
    rows = [
        ("Unargmaxable tokens", ", which no hidden state makes the most probable"),
        ("proved", f"{low:,} of {tokens:,}"),
        ("undecided", f"{high - low:,}" + (f"; so between {low:,} and {high:,}" if high > low else "")),
    ]
    return [*rows, ("the first", f"{'  '.join(named)}{more}")] if named else rows
