"""Claims about the quality of samples, by rank (thesis 5.3) and by decoding (6.2)."""

from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from oversmoothing.claims.choose import EXTREME, TWELVE, beyond, low_and_higher, neighbours, ranked, standing_for
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, Value, constant, minus
from oversmoothing.claims.decodings import ALL, OTHERS
from oversmoothing.claims.evidence import Evidence, Margin, Run, Source
from oversmoothing.claims.members import Member
from oversmoothing.claims.models import alike
from oversmoothing.claims.published import Published, cell
from oversmoothing.numerics.statistics import WindowSums
from oversmoothing.store.parquet import read_table
from studies.sample_quality.metrics import MEASURES

HUMAN = Member("human text", ("human",), ())
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
        value = {member: _measured(evidence, metric, member) for member in (lowest, turn, *higher)}
        best = max(higher, key=lambda member: sign * value[member].mean)
        pairs = [(turn, lowest), (best, turn)] if sign > 0 else [(lowest, turn), (turn, best)]
        gained, more = (minus(value[a], value[b]) for a, b in pairs)
        name = f"{MEASURES[metric].label}, gained from {lowest} to {turn}, and from there to {best}"
        found.append(evidence.compare(gained, more, name))
    return found


def rank_12_only_looks_human(evidence: Evidence) -> list[Comparison]:
    """Test whether rank 12 has human word length and valid words, but worse perplexity and MAUVE."""
    twelve = standing_for(evidence.family, TWELVE)
    length, human = (_measured(evidence, "word_length", member) for member in (twelve, HUMAN))
    valid = _measured(evidence, "valid_words", twelve)
    return [
        *alike(evidence, length, human, MEASURES["word_length"].label, str(twelve), str(HUMAN)),
        evidence.compare(valid, constant(STRONG_MAJORITY), f"{MEASURES['valid_words'].label}, {twelve}"),
        _more(evidence, "perplexity", twelve, HUMAN),
        _more(evidence, "mauve", HUMAN, twelve),
    ]


def decodings_write_more_valid_words(evidence: Evidence) -> list[Comparison]:
    """Compare the share of valid words under every other decoding with that under pure."""
    return [_decoded(evidence, "valid_words", model, other, "pure") for model in ranked(evidence) for other in OTHERS]


def decodings_write_shorter_words(evidence: Evidence) -> list[Comparison]:
    """Compare word length under pure with that under every other decoding."""
    return [_decoded(evidence, "word_length", model, "pure", other) for model in ranked(evidence) for other in OTHERS]


def greedy_repeats_most(evidence: Evidence) -> list[Comparison]:
    """Compare the repetition under greedy with that under every other decoding."""
    others = [other for other in ALL if other != "greedy"]
    return [_decoded(evidence, "bigram", model, "greedy", other) for model in ranked(evidence) for other in others]


def truncation_repeats(evidence: Evidence) -> list[Comparison]:
    """Compare the repetition under top-k, nucleus and pure, in this order."""
    pairs = list(pairwise(("top-k", "top-p", "pure")))
    return [_decoded(evidence, "bigram", model, a, b) for model in ranked(evidence) for a, b in pairs]


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
    return [_decoded(evidence, "byte_tv", model, a, b) for model in ranked(evidence) for a, b in pairs]


def _low_and_human(evidence: Evidence) -> list[tuple[Member, Member]]:
    pairs = low_and_higher(evidence.family)
    return [*pairs, *((low, HUMAN) for low in dict.fromkeys(low for low, _ in pairs))]


def _more(evidence: Evidence, metric: str, a: Member, b: Member, decoding: str = "pure") -> Comparison:
    name = f"{MEASURES[metric].label}, {a} against {b}"
    name = name if decoding == "pure" else f"{name}, {decoding}"
    return evidence.compare(_measured(evidence, metric, a, decoding), _measured(evidence, metric, b, decoding), name)


def _decoded(evidence: Evidence, metric: str, model: Member, a: str, b: str) -> Comparison:
    name = f"{MEASURES[metric].label}, {a} against {b}, {model}"
    return evidence.compare(_measured(evidence, metric, model, a), _measured(evidence, metric, model, b), name)


def _measured(evidence: Evidence, metric: str, member: Member, decoding: str = "pure") -> Value:
    return evidence.value(QUALITY, member, metric, decoding)


def _of_members(metric: str, run: Run, member: Member, decoding: str = "pure") -> list[Value]:
    return [_measured(run, metric, member, decoding)]


def _of_run(run: Run, member: Member, metric: str, decoding: str) -> Value:
    of_set = MEASURES[metric].of_set
    if member is HUMAN:  # compared with itself, a set has MAUVE 1 and byte TV 0, so a second human set is used
        decoding = "second" if of_set else "first"
    parts = [_values(_path(run, model), model, metric, decoding) for model in member.models]
    if of_set:
        means = tuple(float(part.value[part["resample"].isna()].iloc[0]) for part in parts)
        draws = tuple(part.value[part["resample"].notna()].to_numpy() for part in parts)
        return Value(means, member.trainings, metric, draws=draws)
    sums = tuple(WindowSums() for _ in parts)
    for of_model, part in zip(sums, parts, strict=True):
        of_model.add(part.window.to_numpy(np.int64), part.value.to_numpy(np.float64))
    return Value(tuple(of_model.mean for of_model in sums), member.trainings, metric, sums)


def _path(run: Run, model: str) -> str | Path:
    return run.path("human_quality", "") if model in HUMAN.models else run.path("quality", model)


def _values(path: str | Path, model: str, metric: str, decoding: str) -> pd.DataFrame:
    table = _table(path)
    part = table[(table.decoding == decoding) & (table.metric == metric)]
    if part.empty:
        raise Missing(f"{model} has no samples under {decoding}")
    known = part[part.value.notna()]
    if known.empty:
        raise Missing(f"no {MEASURES[metric].label} under {decoding}: {part.note.iloc[0]}")
    return known


@cache
def _table(path: str | Path) -> pd.DataFrame:
    return read_table(path, ["decoding", "metric", "window", "resample", "value", "note"]).to_pandas()


def _printed(published: Published, member: Member, metric: str, decoding: str) -> Value:
    printed = cell(_cells(published), member, metric, "" if member is HUMAN else decoding)
    return Value((printed.mean / MEASURES[metric].published_factor,))


@cache
def _cells(published: Published) -> pd.Series:
    cells = pd.concat([published.table(number) for number in ("5_3", "6_2", "6_3")]).fillna({"decoding": ""})
    cells = cells.replace({"model": {"Human": HUMAN.models[0]}})
    return cells.drop_duplicates(["model", "metric", "decoding"]).set_index(["model", "metric", "decoding"])["mean"]


QUALITY = Source("quality", _of_run, _printed)

MARGINS = {
    metric: Margin(measure.label, partial(_of_members, metric), partial(_of_members, metric))
    for metric, measure in MEASURES.items()
}

CLAIMS = [
    Claim(
        "low-ranks-write-long-words",
        "5.3, Table 5.3",
        "Ranks 4 and 8 write longer words than higher ranks and than people.",
        "Word length of pure samples at ranks 4 and 8 less that of each higher rank and of human text; by window.",
        low_ranks_write_long_words,
    ),
    Claim(
        "low-ranks-write-few-valid-words",
        "5.3, Table 5.3",
        "Ranks 4 and 8 write fewer valid words than higher ranks and than people.",
        "Share of valid words in human text and at each higher rank, less that at ranks 4 and 8; paired by window.",
        low_ranks_write_few_valid_words,
    ),
    Claim(
        "low-ranks-far-in-bytes",
        "5.3, Table 5.3, Figure 5.1",
        "The bytes of ranks 4 and 8 are distributed less like human text than those of higher ranks.",
        "Byte TV of pure samples at ranks 4 and 8 less that of each higher rank; the same draws of windows for both.",
        low_ranks_are_far_in_bytes,
    ),
    Claim(
        "low-ranks-low-mauve",
        "5.3, Table 5.3",
        "Ranks 4 and 8 have a lower MAUVE than higher ranks.",
        "MAUVE of each higher rank less that of ranks 4 and 8; the same draws of windows for both.",
        low_ranks_have_a_low_mauve,
    ),
    Claim(
        "quality-gains-diminish",
        "5.3, Table 5.3",
        "Beyond rank 12 sample quality gains less from a wider bottleneck than up to it.",
        "Perplexity, MAUVE, byte TV and valid words of pure samples: the gain of the first rank above 8 over the "
        "lowest, less the largest gain of any higher rank over that one.",
        quality_gains_diminish,
    ),
    Claim(
        "rank-12-only-looks-human",
        "5.3, Table 5.3",
        "The words of rank 12 are as long as people's and most of them are valid, but its perplexity and MAUVE "
        "are worse.",
        "Pure samples of rank 12: word length within a tenth of human text's, valid words above 0.6, perplexity "
        "above and MAUVE below human text's (for MAUVE, that of a second human set).",
        rank_12_only_looks_human,
    ),
    Claim(
        "decodings-write-more-valid-words",
        "6.2, Tables 6.2 and 6.3",
        "Every decoding gives more valid words than pure sampling, at every rank.",
        "Share of valid words under each other decoding less that under pure, within each model; paired by window.",
        decodings_write_more_valid_words,
    ),
    Claim(
        "decodings-write-shorter-words",
        "6.2, Tables 6.2 and 6.3",
        "Every decoding gives shorter words than pure sampling, at every rank.",
        "Word length under pure less that under each other decoding, within each model; paired by window.",
        decodings_write_shorter_words,
    ),
    Claim(
        "greedy-repeats-most",
        "6.2, Tables 6.2 and 6.3",
        "Greedy decoding repeats itself more than any other, at every rank.",
        "Repetition under greedy less that under each other decoding, within each model; paired by window.",
        greedy_repeats_most,
    ),
    Claim(
        "top-k-repeats-more-than-nucleus",
        "6.2, Tables 6.2 and 6.3",
        "Top-k repeats more than nucleus sampling, and nucleus more than pure sampling, at every rank.",
        "Repetition under top-k less nucleus, and nucleus less pure, within each model; paired by window.",
        truncation_repeats,
    ),
    Claim(
        "repetition-rises-from-low-ranks",
        "6.2, Tables 6.2 and 6.3",
        "Under all decodings but greedy, repetition rises as the low-rank bottleneck is eased.",
        "Repetition at the rank above less that at ranks 4 and 8; paired by window.",
        repetition_rises_from_low_ranks,
    ),
    Claim(
        "greedy-farthest-in-bytes",
        "6.2, Tables 6.2 and 6.3",
        "Byte TV is higher under greedy than under any other decoding, and under top-k and nucleus higher than "
        "under pure.",
        "Byte TV under greedy less each other, and top-k and nucleus less pure, within each model; the same "
        "draws of windows for both.",
        order_in_bytes,
    ),
]
