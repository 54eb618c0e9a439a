"""Claims about the quality of samples, by rank (thesis 5.3) and by decoding (6.2)."""

from itertools import pairwise

from oversmoothing.claims.choose import EXTREME, TWELVE, beyond, each, low_and_higher, neighbours, standing_for
from oversmoothing.claims.comparison import Comparison, Missing, constant, minus
from oversmoothing.claims.decodings import ALL, OTHERS
from oversmoothing.claims.evidence import HUMAN, Evidence
from oversmoothing.claims.members import Member
from oversmoothing.claims.models import alike
from oversmoothing.quality.measures import MEASURES

STRONG_MAJORITY = 0.6  # of the words; the thesis has 0.678
GAINS = {"perplexity": -1, "mauve": 1, "byte_tv": -1, "valid_words": 1}  # metrics of Table 5.3 and their directions


def low_ranks_write_long_words(evidence: Evidence) -> list[Comparison]:
    """Compare the word length of ranks 4 and 8 with that of each higher rank and of human text."""
    return [_more(evidence, "word_length", low, other) for low, other in _low_and_human(evidence)]


def low_ranks_write_few_valid_words(evidence: Evidence) -> list[Comparison]:
    """Compare the share of valid words of ranks 4 and 8 with that of each higher rank and of human text."""
    return [_more(evidence, "valid_words", other, low) for low, other in _low_and_human(evidence)]


def low_ranks_are_far_in_bytes(evidence: Evidence) -> list[Comparison]:
    """Compare the byte TV of ranks 4 and 8 with that of each higher rank."""
    return [_more(evidence, "byte_tv", low, high) for low, high in low_and_higher(evidence.family)]


def low_ranks_have_a_low_mauve(evidence: Evidence) -> list[Comparison]:
    """Compare the MAUVE of ranks 4 and 8 with that of each higher rank."""
    return [_more(evidence, "mauve", high, low) for low, high in low_and_higher(evidence.family)]


def quality_gains_diminish(evidence: Evidence) -> list[Comparison]:
    """Compare the gain in quality from the lowest rank to the first above 8 with the largest gain from there on."""
    above = beyond(evidence.family, EXTREME)
    if len(above) < 2 or evidence.family[0] == above[0]:
        raise Missing(f"it takes a rank up to {EXTREME} and two above")
    lowest, (turn, *higher) = evidence.family[0], above
    found = []
    for metric, sign in GAINS.items():
        value = {member: evidence.quality(metric, member) for member in (lowest, turn, *higher)}
        best = max(higher, key=lambda member: sign * value[member].mean)
        pairs = [(turn, lowest), (best, turn)] if sign > 0 else [(lowest, turn), (turn, best)]
        gained, more = (minus(value[a], value[b]) for a, b in pairs)
        name = f"{MEASURES[metric].label}, gained from {lowest} to {turn}, and from there to {best}"
        found.append(evidence.compare(gained, more, name))
    return found


def rank_12_only_looks_human(evidence: Evidence) -> list[Comparison]:
    """Test whether rank 12 has human word length and valid words, but worse perplexity and MAUVE."""
    twelve = standing_for(evidence.family, TWELVE)
    length, human = (evidence.quality("word_length", member) for member in (twelve, HUMAN))
    valid = evidence.quality("valid_words", twelve)
    return [
        *alike(evidence, length, human, MEASURES["word_length"].label, str(twelve), str(HUMAN)),
        evidence.compare(valid, constant(STRONG_MAJORITY), f"{MEASURES['valid_words'].label}, {twelve}"),
        _more(evidence, "perplexity", twelve, HUMAN),
        _more(evidence, "mauve", HUMAN, twelve),
    ]


def decodings_write_more_valid_words(evidence: Evidence) -> list[Comparison]:
    """Compare the share of valid words under every other decoding with that under pure."""
    return [_decoded(evidence, "valid_words", model, other, "pure") for model in _models(evidence) for other in OTHERS]


def decodings_write_shorter_words(evidence: Evidence) -> list[Comparison]:
    """Compare word length under pure with that under every other decoding."""
    return [_decoded(evidence, "word_length", model, "pure", other) for model in _models(evidence) for other in OTHERS]


def greedy_repeats_most(evidence: Evidence) -> list[Comparison]:
    """Compare the repetition under greedy with that under every other decoding."""
    others = [other for other in ALL if other != "greedy"]
    return [_decoded(evidence, "bigram", model, "greedy", other) for model in _models(evidence) for other in others]


def truncation_repeats(evidence: Evidence) -> list[Comparison]:
    """Compare the repetition under top-k, nucleus and pure, in this order."""
    pairs = list(pairwise(("top-k", "top-p", "pure")))
    return [_decoded(evidence, "bigram", model, a, b) for model in _models(evidence) for a, b in pairs]


def repetition_rises_from_low_ranks(evidence: Evidence) -> list[Comparison]:
    """Compare the repetition of ranks 4 and 8 with that of the next rank, under each decoding but greedy."""
    found = []
    for decoding in (other for other in ALL if other != "greedy"):
        for a, b in neighbours(evidence.family):
            if a.role is not None and a.role <= EXTREME:
                found.append(_more(evidence, "bigram", b, a, decoding))
    if not found:
        raise Missing(f"no model stands for a rank up to {EXTREME}")
    return found


def order_in_bytes(evidence: Evidence) -> list[Comparison]:
    """Compare the byte TV under greedy with every other decoding, and that under top-k and nucleus with pure."""
    pairs = (*(("greedy", other) for other in ALL if other != "greedy"), ("top-k", "pure"), ("top-p", "pure"))
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
