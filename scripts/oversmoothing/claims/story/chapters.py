"""The chapters of the story page, in the thesis's order: their words, tables, figures and claims."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oversmoothing.claims.story.answers import Answer, at_ends, at_lowest, together


@dataclass(frozen=True)
class Chart:
    """A chart of `charts.by_rank`."""

    table: str
    title: str
    menus: Mapping[str, str]  # label of each menu, by the column that it selects
    more: tuple[str, ...] = ()  # further tables with the same columns
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # values that a column is restricted to
    series: str = ""  # the column that distinguishes lines, if it is not ours against the published


@dataclass(frozen=True)
class Chapter:
    """A chapter: a heading, paragraphs, definitions by term, and what it shows if it is there."""

    heading: str
    text: tuple[str, ...]
    # It may open with sentences made from tables, by name, and the figure that shows them.
    answers: Mapping[str, Answer] = field(default_factory=dict)
    picture: str = ""
    cover: str = ""  # a figure that the page begins with; the first that is there does
    samples: str = ""  # the table of samples of which a few are shown
    claims: tuple[str, ...] = ()  # chapters of the claims, or their ids
    terms: Mapping[str, str] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    after: str = ""  # the heading that a study's chapter follows; without one it is among the last


CHAPTERS = (
    Chapter(
        "The models",
        (
            "All models of the family read bytes and share everything but one number: how many dimensions enter the LM "
            "head. The truth is a further model without that bottleneck, which stands in for the language.",
        ),
        answers={
            "losses": at_ends(
                "The rank of a model is how many dimensions enter its head. The share of positions at which the byte "
                "that came next is the one that the model finds most probable is {}.",
                also={"for the truth, the model that counts as right": {"kind": "truth"}},
                measure="accuracy",
                kind="family",
            )
        },
        claims=("3",),
        terms={
            "family": "Models that are trained alike and differ in the rank of what enters the head.",
            "rank": "The number of dimensions that enter the head, which maps them to one logit for each of 256 bytes.",
            "truth": "The model whose distributions count as right.",
        },
        charts=(Chart("losses", "Validation loss and accuracy by rank", {"measure": "measure"}),),
        tables=("losses",),
        figures=("architecture", "losses"),
    ),
    Chapter(
        "Oversmoothing",
        ("Does a model of low rank give probability to bytes to which the truth gives next to none?",),
        answers={
            "oversmoothing": at_ends(
                "The truth's nucleus is the few bytes that hold most of its probability. The probability that a model "
                "adds outside it (TTO) is {}.",
                measure="tto",
                decoding="pure",
            )
        },
        claims=("4", "F"),
        terms={
            "nucleus": "The smallest set of bytes to which the truth gives 90 % of its probability (metrics.tau).",
            "TTO": "Tail token overassignment: the probability that the model adds outside the truth's nucleus.",
            "NSMD": "Nucleus set mass difference: the probability that it takes away inside the nucleus.",
            "TV": "Total variation: half the sum of all differences in probability.",
            "KL": "Kullback-Leibler divergence of the model from the truth, in nats.",
            "TBAT": "Total mass of the BAT-reject set (basis-aware threshold, Finlayson et al. 2024): what the model "
            "gives to bytes that, judged by its head alone, the truth may give nothing; it needs no truth.",
        },
        picture="oversmoothing",
        charts=(
            Chart(
                "decodings",
                "Oversmoothing by rank",
                {"measure": "metric", "decoding": "decoding", "truth": "truth"},
                more=("tbat",),
            ),
        ),
        tables=("oversmoothing", "rank_order", "truths", "entropy_difference"),
    ),
    Chapter(
        "What the models write",
        ("Every model continues the prompt of every window, under every decoding, with the same random numbers.",),
        samples="samples",
        tables=("samples",),
    ),
    Chapter(
        "What decoding mends",
        (
            "Greedy decoding, top-k, top-p and a lower temperature move probability away from the tail. The truth is "
            "left as it is.",
        ),
        answers={
            "decodings_pooled": together(
                at_lowest(
                    "The probability that leaks outside the truth's nucleus (TTO) is, {at}, {}; pure changes nothing.",
                    "decoding",
                    measure="tto",
                ),
                at_lowest(
                    "Half the sum of all differences from the truth (TV), which also counts those inside the nucleus, "
                    "is {}.",
                    "decoding",
                    measure="tv",
                ),
            )
        },
        claims=("6",),
        tables=("decodings_pooled", "decodings", "tbat"),
    ),
    Chapter(
        "Heads cut to a lower rank",
        ("The same rank can be imposed after training, by a singular value decomposition of the full model's head.",),
        answers={
            "svd": at_ends(
                "The probability that the full model, its head cut after training, leaks outside the truth's nucleus "
                "(TTO) is {}.",
                measure="tto",
                decoding="pure",
            )
        },
        claims=("svd-monotone", "svd-worse-than-learned"),
        tables=("svd", "tbat_approximation"),
    ),
)
