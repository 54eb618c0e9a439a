"""JSON Schema of what `oversmoothing head --json` writes, with the unit of every number."""

from collections.abc import Callable
from functools import partial
from typing import Any


def _value(type: str, description: str, **limits: Any) -> dict[str, Any]:
    return {"description": description, "type": type, **limits}


_count = partial(_value, "integer", minimum=0)
_number = partial(_value, "number", minimum=0)
_share = partial(_value, "number", minimum=0, maximum=1)
_flag = partial(_value, "boolean")
_text = partial(_value, "string")
_list = partial(_value, "array")


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return schema | {"type": [schema["type"], "null"]}


def _object(description: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with all of these properties and no other."""
    required = {"required": sorted(properties), "additionalProperties": False}
    return _value("object", description, properties=properties, **required)


def _optional(description: str, **properties: Any) -> dict[str, Any]:
    return _or_null(_object(description, **properties))


def _mean(description: str, of: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a mean with its interval."""
    bound = _or_null(of("95 % interval of the mean, from a bootstrap over whole passages; null with one passage."))
    mean = of("Over the positions; a share is the ratio of two means.")
    return _object(description, mean=mean, low=bound, high=bound)


FILES: dict[str, Any] = {
    "name": _text("As given: a folder, or a name on the hub."),
    "folder": _text("Folder of the files that were read."),
    "revision": _or_null(_text("On the hub; null for a folder.")),
    "commit": _or_null(_text("On the hub, also of a folder in its cache; null for any other folder.")),
}
TOKEN: dict[str, Any] = {"id": _count("In the tokenizer."), "text": _text("Bytes that are not UTF-8 are escaped.")}
SCHEMA = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "oversmoothing head"} | _object(
    "Measures of the LM head of one language model.",
    source=_object(
        "Where the model came from.",
        **FILES,
        device=_text("On which the model ran: cpu or cuda."),
        precision=_text("Of the trunk: bf16 or float32; the head is float32."),
    ),
    model=_object(
        "The model. Token t is the t-th id of its tokenizer that is not special.",
        layers=_count("Blocks.", minimum=1),
        width=_count("Columns d of the head, dimensions.", minimum=1),
        tokens=_count("Rows v of the head that are measured, tokens.", minimum=1),
        excluded=_count("Rows of special ids, and rows that pad the head, ids; they are left out everywhere."),
        rows=_count("Rows of the head in all, ids.", minimum=1),
        tied=_flag("Whether the head is the embedding."),
        bias=_flag("Whether the head has a bias."),
        cap=_or_null(_number("c of logits c tanh(z / c), z being the head's; null where the logits are the head's.")),
        bos={
            "description": "Id that is put before every passage, or a list of several; null for none.",
            "type": ["integer", "array", "null"],
            "items": {"type": "integer"},
        },
    ),
    spectrum=_object(
        "Singular values of the head (v, d), not centred, times any factor of the logits.",
        largest=_number("Singular value, in logits per unit of the hidden state."),
        median=_number("Singular value, in logits per unit of the hidden state."),
        smallest=_number("Singular value, in logits per unit of the hidden state; rounding below 1e-8 of the largest."),
        notable_share=_share("Singular values above 1 % of the largest, as a share of all."),
        effective_rank=_number(
            "exp(H) of the singular values divided by their sum, dimensions (Roy and Vetterli 2007)."
        ),
        numerical_rank=_count("Singular values above 1e-6 of the largest, dimensions."),
        singular_values=_list("In decreasing order, in logits per unit of the hidden state.", items={"type": "number"}),
    ),
    text=_optional(
        "What was measured on the text; null without one.",
        file=_text("The text."),
        tokens=_count("Of the text as far as it was read, at most its first MiB.", minimum=2),
        passages=_count("Evenly spaced passages of the text that the model read.", minimum=1),
        passage_tokens=_count("Tokens in each passage.", minimum=2),
        positions=_count("Predicted tokens that the following values are means over.", minimum=1),
        bytes=_count("UTF-8 bytes of these tokens."),
        loss_per_token=_number("Cross-entropy over the tokens alone, nats per token."),
        loss_per_byte=_number("The same nats divided by the bytes of the predicted tokens, nats per byte."),
        special_mass=_share("Mean probability of the excluded ids in the softmax over all ids."),
        gradient_share=_share("Sum of the squared norm of what passes the head, over that of the logits' gradient."),
        gradient_cosine=_share("Mean ratio of the norms themselves, not squared."),
        random_gradient_share=_share("numerical_rank / tokens: the expected gradient_share of a random head."),
    ),
    tbat=_optional(
        "Mass of the BAT-reject set of the model's own distribution: bounds; null if not measured, and with a cap.",
        positions=_count("Positions of the text that the following values are means over.", minimum=1),
        passages=_count("Passages that these positions are in.", minimum=1),
        delta=_number("Of BAT, nats."),
        mass_tolerance=_share("Probability that may stay undecided at a position."),
        low=_share("Mean proved mass, probability."),
        high=_share("Mean mass that is not disproved, probability."),
        interval=_object(
            "95 % interval of the mean by Student's t over passages, of `low` below and of `high` above.",
            low=_or_null(_share("Null with fewer than five passages.")),
            high=_or_null(_share("Null with fewer than five passages.")),
        ),
        values=_list(
            "At each position, in the order of the text.",
            items=_object(
                "Bounds.", low=_share("Proved mass, probability."), high=_share("Mass that is not disproved.")
            ),
        ),
        undecided=_number("Mean number of undecided tokens per position."),
    ),
    forced=_optional(
        "How far the model is from a truth, and what of it its head forces, of linear logits; null without a truth.",
        truth=_object("Where the truth came from; it ran as the model did.", **FILES),
        positions=_count("Positions of the text that the following values are means over.", minimum=1),
        passages=_count("Passages that these positions are in.", minimum=1),
        kl=_mean("KL divergence of the model from the truth, over the tokens alone, nats.", _number),
        forced=_or_null(
            _mean("The least that any hidden state can leave of it, nats: an upper bound; null with a cap.", _number)
        ),
        share=_or_null(_mean("forced / kl; null if the model is the truth up to rounding, and with a cap.", _share)),
        gap=_or_null(_number("Largest gap of a position, nats: `forced` may be too high by that.")),
        proved=_or_null(_count("Positions at which that error is at most a thousandth of it, or 1e-9 nats.")),
    ),
    directions=_list(
        "The leading singular directions of the head less its mean row, at most three.",
        items=_object(
            "A direction; its sign is that of the token that lies furthest along it.",
            share=_share("Of the squared distances of all rows from the mean row."),
            high=_list("The five tokens furthest along it, furthest first.", items=_object("A token.", **TOKEN)),
            low=_list("The five tokens at its other end, furthest first.", items=_object("A token.", **TOKEN)),
        ),
    ),
    near_mean=_object(
        "Rows near the mean row, as those are that no text trained.",
        median=_number("Median distance of a row from the mean row, logits per unit of the hidden state."),
        threshold=_share("Share of the median below which a row counts as near."),
        below=_count("Tokens whose rows are nearer than that."),
        nearest=_list(
            "The ten nearest, nearest first.",
            items=_object(
                "A token.", **TOKEN, distance=_number("From the mean row, logits per unit of the hidden state.")
            ),
        ),
    ),
    ellipsoid=_optional(
        "The ellipsoid of logits, less their mean over tokens, that the norm lets through; null with a cap or no norm.",
        norm=_text("RMSNorm or LayerNorm."),
        axes=_count("Semi-axes above 1e-6 of the longest."),
        longest=_number("Semi-axis, nats, as the Euclidean norm over all tokens."),
        shortest=_number("Semi-axis, nats, as the Euclidean norm over all tokens."),
        ratio=_or_null(_number("longest / shortest; null without any.")),
    ),
    unargmaxable=_optional(
        "Tokens that no hidden state makes the most probable of all tokens; null if they were not looked for.",
        low=_count("Proved, tokens."),
        high=_count("Proved and undecided, tokens."),
        proved=_list("The proved ones, by id.", items=_object("A token.", **TOKEN)),
        undecided_ids=_list("Ids of the undecided ones in the tokenizer.", items={"type": "integer"}),
    ),
    top_sets=_optional(
        "Sets of k tokens that some hidden state makes the k most probable; null without a text, or if not looked for.",
        source=_text("truth: its k likeliest tokens at positions of the text; text: random ones of its 100 commonest."),
        sizes=_list(
            "By size.",
            items=_object(
                "Sets of a size.",
                k=_count("Tokens in a set.", minimum=1),
                sets=_count("Sets that were tried."),
                possible=_count("Of these proved possible."),
                impossible=_count("Of these proved impossible."),
                undecided=_count("Of these without a proof."),
            ),
        ),
    ),
)
