"""Claims about the quality of samples, by rank (thesis 5.3) and by decoding (6.2)."""

from collections.abc import Sequence
from itertools import pairwise, product

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, clearly_above_0, less, within
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.claims.thesis import FURTHER, LOW, MODERATE, MOST, OTHERS, TOLERANCE, UNCONSTRAINED
from studies.sample_quality.metrics import MEASURES
from studies.sample_quality.table import RARE, SECOND

TWELVE = 12  # the rank whose words look human (5.3)
HALF = 0.5  # "most" of the words
NEARLY_ALL = 0.9  # of the words
TIMES = 3  # that a phrase is repeated at least
GAINS = {"perplexity": -1, "mauve": 1, "byte_tv": -1, "valid_words": 1}  # metrics of Table 5.3 and their directions
HUMAN = "human text"
NOT_GREEDY = ["pure", *(name for name in OTHERS if name != "greedy")]
BESIDE_GREEDY = [("greedy", other) for other in NOT_GREEDY]


def quality(m: Measured, metric: str, rank: Rank, decoding: str = "pure") -> pd.Series:
    """Return a metric of the samples of a rank, by seed."""
    return m.values("sample_quality", metric, rank=rank.rank, decoding=decoding)


def of_people(m: Measured, metric: str) -> pd.Series:
    """Return a metric of human text; of a whole set, that of a second one, as the first is its reference."""
    second = (metric == RARE or MEASURES[metric].of_set) and SECOND in set(m.table("sample_quality").model)
    return m.values("sample_quality", metric, kind="human", **({"model": SECOND} if second else {}))


def beside(m: Measured, metric: str, sign: int, rank: Rank, other: Rank | None) -> Contrast:
    """Contrast a rank with another one or, for None, with human text; `sign` is that of the difference expected."""
    than = of_people(m, metric) if other is None else quality(m, metric, other)
    name = f"{MEASURES[metric].label}, {rank} beside {HUMAN if other is None else other}"
    return less(name, sign * quality(m, metric, rank), sign * than)


def low_beside_higher(m: Measured, metric: str, sign: int, people: bool = False) -> list[Contrast]:
    """Contrast ranks 4 and 8 with each higher rank, and with human text."""
    pairs = product(m.ranks(high=LOW), [*m.ranks(LOW + 1), *([None] if people else [])])
    return [beside(m, metric, sign, low, other) for low, other in pairs]


def full_rank_samples_better(m: Measured) -> list[Contrast]:
    """Contrast valid words and byte TV of full rank with those of each rank from 16 to 128."""
    (full,) = m.ranks(UNCONSTRAINED, UNCONSTRAINED)
    pairs = product(("valid_words", "byte_tv"), m.ranks(MODERATE, FURTHER))
    return [beside(m, metric, GAINS[metric], full, rank) for metric, rank in pairs]


def moderate_ranks_oversample_rare_bytes(m: Measured) -> list[Contrast]:
    """Contrast the share of the rarest bytes in samples of each moderate rank with human text, and with full rank."""
    people = of_people(m, RARE)
    (full,) = m.ranks(UNCONSTRAINED, UNCONSTRAINED)
    others = {HUMAN: people, str(full): quality(m, RARE, full)}
    return [
        less(f"share of the rarest bytes, {rank} less {name}", quality(m, RARE, rank), other)
        for rank in m.ranks(MODERATE, MOST)
        for name, other in others.items()
    ]


def learned_write_better_than_truncated(m: Measured) -> list[Contrast]:
    """Contrast the samples of each learned rank with those of the head truncated to it, in words and MAUVE."""
    truncated = m.table("sample_quality").query("kind == 'svd'")["rank"].dropna().unique()
    return [
        less(
            f"{MEASURES[metric].label}, learned less truncated, {rank}",
            quality(m, metric, rank),
            m.values("sample_quality", metric, kind="svd", rank=rank.rank, decoding="pure"),
        )
        for metric, rank in product(("valid_words", "mauve"), m.ranks(LOW))
        if rank.rank in truncated
    ]


def gains_diminish(m: Measured) -> list[Contrast]:
    """Contrast the gain in quality from the lowest rank to the first above 8 with the largest gain from there on."""
    (lowest, *_), (turn, *higher) = m.ranks(high=LOW), m.ranks(LOW + 1, least=2)
    found = []
    for metric, sign in GAINS.items():
        of = {rank: sign * quality(m, metric, rank) for rank in (lowest, turn, *higher)}
        best = max(higher, key=lambda rank: of[rank].mean())
        name = f"{MEASURES[metric].label}, gained from {lowest} to {turn}, less from there to {best}"
        found.append(less(name, of[turn] - of[lowest], of[best] - of[turn]))
    return found


def rank_12_only_looks_human(m: Measured) -> list[Contrast]:
    """Hold words of rank 12 to human length and mostly valid, and its perplexity and MAUVE to worse than human.

    "The model with a 12-dimensional bottleneck produces text with an average word length comparable to human text, and
    with the strong majority of words being valid English. However these samples achieve significantly worse perplexity
    and MAUVE scores". (5.3) Of people's words, too, not all are in the dictionary.
    """
    (twelve,) = m.ranks(TWELVE, TWELVE)
    length, valid, perplexity, mauve = (
        quality(m, name, twelve) for name in ("word_length", "valid_words", "perplexity", "mauve")
    )
    return [
        within(f"word length, {twelve} less {HUMAN}", length, of_people(m, "word_length"), TOLERANCE),
        less(f"valid words, {twelve}", valid, above=HALF),
        less(f"valid words, {twelve} by {HUMAN}", valid / of_people(m, "valid_words").mean(), above=HALF),
        less(f"perplexity, {twelve} less {HUMAN}", perplexity, of_people(m, "perplexity")),
        less(f"MAUVE, {HUMAN} less {twelve}", of_people(m, "mauve"), mauve),
    ]


def greedy_words_are_nearly_all_valid(m: Measured) -> list[Contrast]:
    """Hold greedy decoding's valid words to nine in ten, and to above every other decoding's, at each rank.

    "Almost all words produced by greedy decoding are valid compared to the stochastic sampling methods, suggesting that
    bottlenecked models can learn valid words, they just lack significant confidence when predicting them." (6.2)
    """
    held = [
        less(f"valid words, greedy, {r}", quality(m, "valid_words", r, "greedy"), above=NEARLY_ALL) for r in m.ranks()
    ]
    return [*held, *by_decoding(m, "valid_words", BESIDE_GREEDY)]


def lowest_rank_repeats_the_shortest_phrase(m: Measured) -> list[Contrast]:
    """Contrast the phrases that greedy decoding repeats at the end of a sample with those of the lowest rank.

    "The model with the strictest bottleneck exhibits the shortest repeated phrase". (6.2)
    """
    lowest, *others = m.ranks(least=2)
    table = m.table("samples")
    greedy = table[(table.decoding == "greedy") & table.label.str.startswith("rank ")]
    lengths = greedy.assign(length=greedy.continuation.map(repeated)).groupby(["rank", "seed"]).length.mean()
    if lengths.empty or lowest.rank not in lengths:
        raise Missing("the table samples has no greedy samples of the lowest rank")
    return [
        less(f"characters of the repeated phrase, {rank} less {lowest}", lengths[rank.rank], lengths[lowest.rank])
        for rank in others
        if rank.rank in lengths
    ]


def repeated(text: str) -> float:
    """Return the characters of the shortest phrase with which a text ends three times in a row; NaN if with none."""
    for length in range(1, len(text) // TIMES + 1):
        if text.endswith(text[-length:] * TIMES):
            return float(length)
    return float("nan")


def leak(m: Measured, rank: Rank, decoding: str = "pure") -> pd.Series:
    """Return the TTO of a rank under a decoding, over all truths, by seed."""
    return m.values("decodings_pooled", "tto", rank=rank.rank, decoding=decoding)


def leaking_less_is_not_sufficient(m: Measured) -> list[Contrast]:
    """Contrast greedy decoding with pure sampling: it leaks less, repeats more, and its bytes are less like people's.

    "Oversmoothing must be reduced while preserving the distribution's shape. Thus, a lack of oversmoothing is not a
    sufficient condition for good LLM performance." (6.1)
    """
    leaks = [less(f"TTO, pure less greedy, {rank}", leak(m, rank), leak(m, rank, "greedy")) for rank in m.ranks()]
    worse = [one for name in ("bigram", "byte_tv") for one in by_decoding(m, name, [("greedy", "pure")])]
    return [*leaks, *worse]


def leaking_less_is_necessary(m: Measured) -> list[Contrast]:
    """Contrast the samples that leak least, by pure sampling, with those of every rank and decoding that leaks more.

    "A lack of oversmoothing is a necessary but not a sufficient condition for good sample quality." (8) So whatever
    leaks more should write fewer valid words and bytes less like people's.
    """
    best = min(m.ranks(least=2), key=lambda rank: leak(m, rank).mean())
    found = []
    for rank, decoding in product(m.ranks(), NOT_GREEDY):
        more = less("", leak(m, rank, decoding), leak(m, best))
        if (rank, decoding) == (best, "pure") or not clearly_above_0(more):
            continue
        for metric in ("valid_words", "byte_tv"):
            a, b = (GAINS[metric] * quality(m, metric, *of) for of in ((best,), (rank, decoding)))
            found.append(less(f"{MEASURES[metric].label}, {best} pure beside {rank} {decoding}", a, b))
    return found


def by_decoding(m: Measured, metric: str, pairs: Sequence[tuple[str, str]]) -> list[Contrast]:
    """Contrast the first decoding of each pair with the second, at each rank."""
    label = MEASURES[metric].label
    return [
        less(f"{label}, {a} less {b}, {rank}", quality(m, metric, rank, a), quality(m, metric, rank, b))
        for rank, (a, b) in product(m.ranks(), pairs)
    ]


def repetition_rises_from_low_ranks(m: Measured) -> list[Contrast]:
    """Contrast the repetition of each rank after 4 and 8 with theirs, under each decoding but greedy."""
    pairs = [(a, b) for a, b in m.steps() if a.role <= LOW]
    if not pairs:
        raise Missing(f"it takes a rank up to {LOW}")
    return [
        less(
            f"{MEASURES['bigram'].label}, {b} less {a}, {name}",
            quality(m, "bigram", b, name),
            quality(m, "bigram", a, name),
        )
        for name, (a, b) in product(NOT_GREEDY, pairs)
    ]


CLAIMS = [
    Claim(
        "low-ranks-write-long-words",
        "5.3, Table 5.3",
        "Ranks 4 and 8 write longer words than higher ranks and than people.",
        "Word length of pure samples at ranks 4 and 8 less that of each higher rank and of human text.",
        lambda m: low_beside_higher(m, "word_length", 1, people=True),
    ),
    Claim(
        "low-ranks-write-few-valid-words",
        "5.3, Table 5.3",
        "Ranks 4 and 8 write fewer valid words than higher ranks and than people.",
        "Share of valid words in human text and at each higher rank, less that at ranks 4 and 8.",
        lambda m: low_beside_higher(m, "valid_words", -1, people=True),
    ),
    Claim(
        "low-ranks-far-in-bytes",
        "5.3, Table 5.3, Figure 5.1",
        "The bytes of ranks 4 and 8 are distributed less like human text than those of higher ranks.",
        "Byte TV of pure samples at ranks 4 and 8 less that of each higher rank.",
        lambda m: low_beside_higher(m, "byte_tv", 1),
    ),
    Claim(
        "low-ranks-low-mauve",
        "5.3, Table 5.3",
        "Ranks 4 and 8 have a lower MAUVE than higher ranks.",
        "MAUVE of each higher rank less that of ranks 4 and 8.",
        lambda m: low_beside_higher(m, "mauve", -1),
    ),
    Claim(
        "quality-gains-diminish",
        "5.3, Table 5.3",
        "Beyond rank 12 sample quality gains less from a wider bottleneck than up to it.",
        "Perplexity, MAUVE, byte TV and valid words of pure samples: the gain of the first rank above 8 over the "
        "lowest, less the largest gain of any higher rank over that one.",
        gains_diminish,
    ),
    Claim(
        "rank-12-only-looks-human",
        "5.3, Table 5.3",
        "The words of rank 12 are as long as people's and most of them are valid, but its perplexity and MAUVE "
        "are worse.",
        "Pure samples of rank 12: word length within a tenth of human text's (equivalence); valid words above one "
        "half, of its words and of the share in human text; perplexity above and MAUVE below human text's (for MAUVE, "
        "that of a second human set).",
        rank_12_only_looks_human,
    ),
    Claim(
        "moderate-ranks-oversample-rare-bytes",
        "5.3, Figure 5.1",
        "Moderate ranks write the rarest bytes more often than people and than full rank do.",
        "Share of the ten bytes that are rarest in the human text, at ranks 16 and 32 less human text and full rank.",
        moderate_ranks_oversample_rare_bytes,
    ),
    Claim(
        "full-rank-samples-better",
        "8, Table 5.3",
        "In samples full rank does better than moderate ranks: more words are valid, and bytes are more like people's.",
        "Valid words and byte TV at rank 512 beside each rank from 16 to 128.",
        full_rank_samples_better,
    ),
    Claim(
        "svd-samples-worse-than-learned",
        "7.1, Tables 5.3 and H.1",
        "From rank 8 on a head truncated by SVD writes worse samples than a bottleneck learned at the same rank.",
        "Valid words and MAUVE at each such rank that both have: learned less truncated. The thesis prints the tables, "
        "and says so of next bytes alone.",
        learned_write_better_than_truncated,
    ),
    Claim(
        "decodings-write-more-valid-words",
        "6.2, Tables 6.2 and 6.3",
        "Every decoding gives more valid words than pure sampling, at every rank.",
        "Share of valid words under each other decoding less that under pure, at each rank.",
        lambda m: by_decoding(m, "valid_words", [(other, "pure") for other in OTHERS]),
    ),
    Claim(
        "lowest-rank-repeats-the-shortest-phrase",
        "6.2, Table 5.1",
        "Greedy decoding repeats a shorter phrase at the lowest rank than at any other.",
        "Characters of the phrase with which a greedy sample ends three times in a row, at each other rank less the "
        "lowest, in the samples that are shown; samples without one are left out.",
        lowest_rank_repeats_the_shortest_phrase,
    ),
    Claim(
        "greedy-words-are-valid",
        "6.2, Table 6.2",
        "Nearly all words of greedy decoding are valid, and more of them than under any other decoding.",
        "Share of valid words under greedy, above 0.9; and less that under each other decoding. At each rank.",
        greedy_words_are_nearly_all_valid,
    ),
    Claim(
        "leaking-less-is-not-sufficient",
        "6.1, Tables 6.1 and 6.2",
        "That a model leaks less does not suffice for good text: greedy decoding leaks less and writes worse.",
        "Greedy less pure at each rank: TTO below 0, repetition and byte TV above 0.",
        leaking_less_is_not_sufficient,
    ),
    Claim(
        "leaking-less-is-necessary",
        "8, Tables 6.1, 6.2 and 6.3",
        "What leaks more than pure sampling from the best rank writes fewer valid words and bytes less like people's.",
        "The rank whose pure samples leak least, beside each rank and decoding but greedy that clearly leaks more.",
        leaking_less_is_necessary,
    ),
    Claim(
        "decodings-write-shorter-words",
        "6.2, Tables 6.2 and 6.3",
        "Every decoding gives shorter words than pure sampling, at every rank.",
        "Word length under pure less that under each other decoding, at each rank.",
        lambda m: by_decoding(m, "word_length", [("pure", other) for other in OTHERS]),
    ),
    Claim(
        "greedy-repeats-most",
        "6.2, Tables 6.2 and 6.3",
        "Greedy decoding repeats itself more than any other, at every rank.",
        "Repetition under greedy less that under each other decoding, at each rank.",
        lambda m: by_decoding(m, "bigram", BESIDE_GREEDY),
    ),
    Claim(
        "top-k-repeats-more-than-nucleus",
        "6.2, Tables 6.2 and 6.3",
        "Top-k repeats more than nucleus sampling, and nucleus more than pure sampling, at every rank.",
        "Repetition under top-k less nucleus, and nucleus less pure, at each rank.",
        lambda m: by_decoding(m, "bigram", list(pairwise(("top-k", "top-p", "pure")))),
    ),
    Claim(
        "repetition-rises-from-low-ranks",
        "6.2, Tables 6.2 and 6.3",
        "Under all decodings but greedy, repetition rises as the low-rank bottleneck is eased.",
        "Repetition at the rank above less that at ranks 4 and 8.",
        repetition_rises_from_low_ranks,
    ),
    Claim(
        "greedy-farthest-in-bytes",
        "6.2, Tables 6.2 and 6.3",
        "Byte TV is higher under greedy than under any other decoding, and under top-k and nucleus higher than "
        "under pure.",
        "Byte TV under greedy less each other, and top-k and nucleus less pure, at each rank.",
        lambda m: by_decoding(m, "byte_tv", [*BESIDE_GREEDY, ("top-k", "pure"), ("top-p", "pure")]),
    ),
]
