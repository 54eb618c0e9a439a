"""JSON Schema of what `oversmoothing size --json` writes."""

from typing import Any

from oversmoothing.commands.schemas.parts import (
    BOS,
    CAP,
    FILES,
    RAN,
    array,
    count,
    document,
    fields,
    flag,
    number,
    or_null,
    share,
    text,
)

INTERVAL = "95 % interval over passages; null where one passage alone is held out."
ACCEPTED: dict[str, Any] = {
    "acceptance": share("Mean probability that the truth accepts a drafted token."),
    "low": or_null(share(INTERVAL)),
    "high": or_null(share(INTERVAL)),
}


def _accepted(description: str, size: str) -> dict[str, Any]:
    return array(description, items=fields("A draft.", size=count(size, minimum=1), **ACCEPTED))


SCHEMA = document(
    "size",
    "What the best heads of some ranks force, if a model is the truth.",
    optional=("vocabularies", "advice", "draft"),
    truth=fields(
        "The model whose predictions a head should give.",
        **FILES,
        **RAN,
        bos=BOS,
        tokens=count("Rows of its head that are measured, tokens.", minimum=1),
        width=count("Columns of its head, dimensions.", minimum=1),
        bias=flag("Whether its head has a bias."),
        cap=CAP,
    ),
    text=fields(
        "The text, cut into passages that are fitted and held out in turn.",
        file=text("As given."),
        fitted=count("Positions that heads are fitted to.", minimum=1),
        held=count("Positions on which they are measured.", minimum=1),
        passages=count("Passages in all.", minimum=2),
    ),
    ranks=array(
        "What the best head of each rank forces, by rank.",
        items=fields(
            "A rank.",
            rank=count("Columns of the head; at most those of the truth's own.", minimum=1),
            forced=number("Mean over the held positions, nats."),
            low=or_null(number(INTERVAL)),
            high=or_null(number(INTERVAL)),
            fitted=number("Mean over the positions that it was fitted to, nats."),
            gap=number("Largest gap of a position, nats: `forced` may be too high by that."),
        ),
    ),
    smallest=array(
        "The smallest ranks that force at most 0.1, 0.01 and 0.001 nats.",
        items=fields(
            "A target.",
            nats=number("The target, nats."),
            above=count("The largest fitted rank that forces more; 0 if none does."),
            rank=or_null(count("The smallest known rank that does not; null if it could not be fitted.", minimum=1)),
        ),
    ),
    searched=flag("Whether further ranks were fitted to find them."),
    vocabularies=array(
        "What truths of kept runs need over the nearest vocabulary; missing if no such run is kept.",
        items=fields(
            "A target for one truth.",
            vocabulary=text("Number of tokens."),
            truth=text("Name of the truth."),
            nats=text("The target, nats."),
            rank=text("The rank, with its interval."),
        ),
    ),
    advice=text("One sentence on a head of the planned width; missing without --advice."),
    draft=fields(
        "How often the truth accepts drafts; missing without --draft.",
        seen=count("Different tokens of the text outside the held passages."),
        beyond=array("Numbers of tokens kept for which the text has too few.", items={"type": "integer"}),
        kept=_accepted("Drafts that keep the commonest tokens.", "Tokens kept."),
        ranks=_accepted("Drafts whose head has few columns.", "Columns."),
    ),
)
