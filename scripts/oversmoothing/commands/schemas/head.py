"""JSON Schema of what `oversmoothing head --json` writes."""

from collections.abc import Callable
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
    fields_or_null,
    flag,
    number,
    or_null,
    share,
    text,
)


def _mean(description: str, of: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a mean with its interval."""
    bound = or_null(of("95 % interval of the mean, from a bootstrap over whole passages; null with one passage."))
    mean = of("Over the positions; a share is the ratio of two means.")
    return fields(description, mean=mean, low=bound, high=bound)


TOKEN: dict[str, Any] = {"id": count("In the tokenizer."), "text": text("Bytes that are not UTF-8 are escaped.")}
SCHEMA = document(
    "head",
    "Measures of the LM head of one language model.",
    source=fields("Where the model came from.", **FILES, **RAN),
    model=fields(
        "The model. Token t is the t-th id of its tokenizer that is not special.",
        layers=count("Blocks.", minimum=1),
        width=count("Columns d of the head, dimensions.", minimum=1),
        tokens=count("Rows v of the head that are measured, tokens.", minimum=1),
        excluded=count("Rows of special ids, and rows that pad the head, ids; they are left out everywhere."),
        rows=count("Rows of the head in all, ids.", minimum=1),
        tied=flag("Whether the head is the embedding."),
        bias=flag("Whether the head has a bias."),
        cap=CAP,
        bos=BOS,
    ),
    spectrum=fields(
        "Singular values of the head (v, d), not centred, times any factor of the logits.",
        largest=number("Singular value, in logits per unit of the hidden state."),
        median=number("Singular value, in logits per unit of the hidden state."),
        smallest=number("Singular value, in logits per unit of the hidden state; rounding below 1e-8 of the largest."),
        notable_share=share("Singular values above 1 % of the largest, as a share of all."),
        effective_rank=number(
            "exp(H) of the singular values divided by their sum, dimensions (Roy and Vetterli 2007)."
        ),
        numerical_rank=count("Singular values above 1e-6 of the largest, dimensions."),
        singular_values=array("In decreasing order, in logits per unit of the hidden state.", items={"type": "number"}),
    ),
    text=fields_or_null(
        "What was measured on the text; null without one.",
        file=text("The text."),
        tokens=count("Of the text as far as it was read, at most its first MiB.", minimum=2),
        passages=count("Evenly spaced passages of the text that the model read.", minimum=1),
        passage_tokens=count("Tokens in each passage.", minimum=2),
        positions=count("Predicted tokens that the following values are means over.", minimum=1),
        bytes=count("UTF-8 bytes of these tokens."),
        loss_per_token=number("Cross-entropy over the tokens alone, nats per token."),
        loss_per_byte=number("The same nats divided by the bytes of the predicted tokens, nats per byte."),
        special_mass=share("Mean probability of the excluded ids in the softmax over all ids."),
        gradient_share=share("Sum of the squared norm of what passes the head, over that of the logits' gradient."),
        gradient_cosine=share("Mean ratio of the norms themselves, not squared."),
        random_gradient_share=share("numerical_rank / tokens: the expected gradient_share of a random head."),
    ),
    tbat=fields_or_null(
        "Mass of the BAT-reject set of the model's own distribution: bounds; null if not measured, and with a cap.",
        positions=count("Positions of the text that the following values are means over.", minimum=1),
        passages=count("Passages that these positions are in.", minimum=1),
        delta=number("Of BAT, nats."),
        mass_tolerance=share("Probability that may stay undecided at a position."),
        low=share("Mean proved mass, probability."),
        high=share("Mean mass that is not disproved, probability."),
        interval=fields(
            "95 % interval of the mean by Student's t over passages, of `low` below and of `high` above.",
            low=or_null(share("Null with fewer than five passages.")),
            high=or_null(share("Null with fewer than five passages.")),
        ),
        values=array(
            "At each position, in the order of the text.",
            items=fields("Bounds.", low=share("Proved mass, probability."), high=share("Mass that is not disproved.")),
        ),
        undecided=number("Mean number of undecided tokens per position."),
    ),
    forced=fields_or_null(
        "How far the model is from a truth, and what of it its head forces, of linear logits; null without a truth.",
        truth=fields("Where the truth came from; it ran as the model did.", **FILES),
        positions=count("Positions of the text that the following values are means over.", minimum=1),
        passages=count("Passages that these positions are in.", minimum=1),
        kl=_mean("KL divergence of the model from the truth, over the tokens alone, nats.", number),
        forced=or_null(
            _mean("The least that any hidden state can leave of it, nats: an upper bound; null with a cap.", number)
        ),
        share=or_null(_mean("forced / kl; null if the model is the truth up to rounding, and with a cap.", share)),
        gap=or_null(number("Largest gap of a position, nats: `forced` may be too high by that.")),
        proved=or_null(count("Positions at which that error is at most a thousandth of it, or 1e-9 nats.")),
    ),
    directions=array(
        "The leading singular directions of the head less its mean row, at most three.",
        items=fields(
            "A direction; its sign is that of the token that lies furthest along it.",
            share=share("Of the squared distances of all rows from the mean row."),
            high=array("The five tokens furthest along it, furthest first.", items=fields("A token.", **TOKEN)),
            low=array("The five tokens at its other end, furthest first.", items=fields("A token.", **TOKEN)),
        ),
    ),
    near_mean=fields(
        "Rows near the mean row, as those are that no text trained.",
        median=number("Median distance of a row from the mean row, logits per unit of the hidden state."),
        threshold=share("Share of the median below which a row counts as near."),
        below=count("Tokens whose rows are nearer than that."),
        nearest=array(
            "The ten nearest, nearest first.",
            items=fields(
                "A token.", **TOKEN, distance=number("From the mean row, logits per unit of the hidden state.")
            ),
        ),
    ),
    ellipsoid=fields_or_null(
        "The ellipsoid of logits, less their mean over tokens, that the norm lets through; null with a cap or no norm.",
        norm=text("RMSNorm or LayerNorm."),
        axes=count("Semi-axes above 1e-6 of the longest."),
        longest=number("Semi-axis, nats, as the Euclidean norm over all tokens."),
        shortest=number("Semi-axis, nats, as the Euclidean norm over all tokens."),
        ratio=or_null(number("longest / shortest; null without any.")),
    ),
    unargmaxable=fields_or_null(
        "Tokens that no hidden state makes the most probable of all tokens; null if they were not looked for.",
        low=count("Proved, tokens."),
        high=count("Proved and undecided, tokens."),
        proved=array("The proved ones, by id.", items=fields("A token.", **TOKEN)),
        undecided_ids=array("Ids of the undecided ones in the tokenizer.", items={"type": "integer"}),
    ),
    top_sets=fields_or_null(
        "Sets of k tokens that some hidden state makes the k most probable; null without a text, or if not looked for.",
        source=text("truth: its k likeliest tokens at positions of the text; text: random ones of its 100 commonest."),
        sizes=array(
            "By size.",
            items=fields(
                "Sets of a size.",
                k=count("Tokens in a set.", minimum=1),
                sets=count("Sets that were tried."),
                possible=count("Of these proved possible."),
                impossible=count("Of these proved impossible."),
                undecided=count("Of these without a proof."),
            ),
        ),
    ),
)
