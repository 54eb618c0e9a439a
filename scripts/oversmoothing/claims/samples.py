"""Claims about how samples read, by rank (thesis 5.3) and by decoding (6.2)."""

from itertools import pairwise

from oversmoothing.claims.choose import (
    EXTREME,
    MOST,
    beyond,
    each,
    low_and_higher,
    neighbours,
    standing_for,
    up_to,
)
from oversmoothing.claims.comparison import Comparison, Missing
from oversmoothing.claims.decodings import OTHERS
from oversmoothing.claims.evidence import HUMAN, Evidence
from oversmoothing.claims.members import Member
from oversmoothing.text_quality.measures import MEASURES

TWELVE = 12  # the rank whose words look human


def perplexity_falls_up_to_32(evidence: Evidence) -> list[Comparison]:
    """Compare the perplexity of each rank up to 32 with that of the next."""
    pairs = neighbours(up_to(evidence.family, MOST), f"up to {MOST}")
    return [_more(evidence, "perplexity", a, b) for a, b in pairs]


def low_ranks_write_long_words(evidence: Evidence) -> list[Comparison]:
    """Compare word length of ranks 4 and 8 with each higher rank's and with human text's."""
    return [_more(evidence, "word_length", low, other) for low, other in _low_and_human(evidence)]


def low_ranks_write_few_valid_words(evidence: Evidence) -> list[Comparison]:
    """Compare the share of valid words of ranks 4 and 8 with each higher rank's and with human text's."""
    return [_more(evidence, "valid_words", other, low) for low, other in _low_and_human(evidence)]


def low_ranks_are_far_in_bytes(evidence: Evidence) -> list[Comparison]:
    """Compare the byte TV of ranks 4 and 8 with each higher rank's."""
    return [_more(evidence, "byte_tv", low, high) for low, high in low_and_higher(evidence.family)]


def low_ranks_have_a_low_mauve(evidence: Evidence) -> list[Comparison]:
    """Compare the MAUVE of ranks 4 and 8 with each higher rank's."""
    return [_more(evidence, "mauve", high, low) for low, high in low_and_higher(evidence.family)]


def rank_12_only_looks_human(evidence: Evidence) -> list[Comparison]:
    """Compare perplexity and MAUVE of rank 12 with each higher rank's."""
    twelve = standing_for(evidence.family, TWELVE)
    higher = beyond(evidence.family, TWELVE)
    return [_more(evidence, "perplexity", twelve, high) for high in higher] + [
        _more(evidence, "mauve", high, twelve) for high in higher
    ]


def decodings_write_more_valid_words(evidence: Evidence) -> list[Comparison]:
    """Compare the share of valid words under each other decoding with that under pure."""
    return [_decoded(evidence, "valid_words", model, other, "pure") for model in _models(evidence) for other in OTHERS]


def decodings_write_shorter_words(evidence: Evidence) -> list[Comparison]:
    """Compare word length under pure with that under each other decoding."""
    return [_decoded(evidence, "word_length", model, "pure", other) for model in _models(evidence) for other in OTHERS]


def greedy_repeats_most(evidence: Evidence) -> list[Comparison]:
    """Compare the repetition under greedy with that under each other decoding."""
    others = ("pure", "top-k", "top-p", "temperature")
    return [_decoded(evidence, "bigram", model, "greedy", other) for model in _models(evidence) for other in others]


def truncation_repeats(evidence: Evidence) -> list[Comparison]:
    """Compare the repetition under top-k, nucleus and pure, in this order."""
    pairs = list(pairwise(("top-k", "top-p", "pure")))
    return [_decoded(evidence, "bigram", model, a, b) for model in _models(evidence) for a, b in pairs]


def repetition_rises_from_low_ranks(evidence: Evidence) -> list[Comparison]:
    """Compare the repetition of ranks 4 and 8 with that of the next rank, under each decoding but greedy."""
    found = []
    for decoding in ("pure", "top-k", "top-p", "temperature"):
        for a, b in neighbours(evidence.family):
            if a.role is not None and a.role <= EXTREME:
                found.append(_more(evidence, "bigram", b, a, decoding))
    if not found:
        raise Missing(f"no model stands for a rank up to {EXTREME}")
    return found


def order_in_bytes(evidence: Evidence) -> list[Comparison]:
    """Compare the byte TV under greedy with that under top-k and nucleus, and these with that under pure."""
    pairs = (("greedy", "top-k"), ("greedy", "top-p"), ("top-k", "pure"), ("top-p", "pure"))
    return [_decoded(evidence, "byte_tv", model, a, b) for model in _models(evidence) for a, b in pairs]


def _models(evidence: Evidence) -> list[Member]:
    if not evidence.family:
        raise Missing("no model of the family has a rank")
    return each(evidence.family)


def _low_and_human(evidence: Evidence) -> list[tuple[Member, Member]]:
    pairs = low_and_higher(evidence.family)
    return [*pairs, *((low, HUMAN) for low in dict.fromkeys(low for low, _ in pairs))]


def _more(evidence: Evidence, metric: str, a: Member, b: Member, decoding: str = "pure") -> Comparison:
    name = f"{MEASURES[metric].label}, {a} against {b}"
    name = name if decoding == "pure" else f"{name}, {decoding}"
    return evidence.compare(evidence.quality(metric, a, decoding), evidence.quality(metric, b, decoding), name)


def _decoded(evidence: Evidence, metric: str, model: Member, a: str, b: str) -> Comparison:
    name = f"{MEASURES[metric].label}, {a} against {b}, {model}"
    return evidence.compare(evidence.quality(metric, model, a), evidence.quality(metric, model, b), name)
