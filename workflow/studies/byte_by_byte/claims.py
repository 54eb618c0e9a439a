"""Claims about single bytes (thesis 4.3 and 8, Figures 4.2 and 4.3)."""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less, outranking, within
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.claims.thesis import TOLERANCE, score
from studies.byte_by_byte.table import ARGMAX, EXTREMES, NSMD, OCCURRENCES, SHARE

NEARLY_ALL = 0.9  # of the bytes
TEXTS = 400  # that are drawn
HALF = 1.96  # standard errors in half of a 95 % interval


def occurrences(m: Measured, measure: str = OCCURRENCES) -> pd.Series:
    """Return how often each byte that occurs stands in the scored text, the most frequent first."""
    text = m.table("bytes")
    counts = text[text.measure == measure].set_index("class").value
    counts = counts[counts > 0]
    if len(counts) < 2 * EXTREMES:
        raise Missing(f"only {len(counts)} different bytes stand in the windows; it takes {2 * EXTREMES}")
    return counts


def by_byte(m: Measured, measure: str, rank: Rank) -> pd.DataFrame:
    """Return a measure by seed (rows) and byte, its mean over truths."""
    rows = m.table("bytes")
    rows = rows[(rows.measure == measure) & (rows.kind == "family") & (rows["rank"] == rank.rank)]
    return rows.pivot_table(index="seed", columns="class", values="value")


def lowest_and_best(m: Measured) -> tuple[Rank, Rank]:
    """Return the two ranks of Figure 4.2: the lowest, and the one with the lowest NSMD."""
    lowest, *others = m.ranks(least=2)
    return lowest, min(others, key=lambda rank: score(m, NSMD, rank).mean())


def rare_bytes_are_oversmoothed_more(m: Measured) -> list[Contrast]:
    """Correlate how rare a byte is and the NSMD there, over bytes, against the foreign truth, as in Figure 4.2.

    "For the 4-dimensional bottleneck, although there is variation, oversmoothing tends to increase as token frequency
    decreases. For the 128-dimensional bottleneck, on average, minimal oversmoothing is exhibited when expected to
    predict frequent tokens [...] then rising prominently for the least frequent tokens." (4.3) The text is drawn again
    by the standard error of each mean over windows; where one window has all, by that over its positions.
    """
    truth, counts = m.foreign(), occurrences(m)
    rows = m.table("bytes")
    rows = rows[(rows.measure == NSMD) & (rows.kind == "family") & (rows.truth == truth)]
    found = []
    for rank in lowest_and_best(m):
        values, errors = dict[int, float](), []
        for seed, own in rows[rows["rank"] == rank.rank].groupby("seed"):
            of = own.set_index("class").reindex(counts.index)
            over_windows = (of.high - of.low) / (2 * HALF)
            error = over_windows.fillna(of.sd.fillna(of.sd.mean()) / np.sqrt(of.n)).to_numpy()
            drawn = of.value.to_numpy() + error * np.random.default_rng(0).standard_normal((TEXTS, len(of)))
            values[seed] = rank_correlation(-counts.to_numpy(), of.value.to_numpy()[None])[0]
            errors.append(rank_correlation(-counts.to_numpy(), drawn).std(ddof=1))
        name = f"Spearman's r of how rare a byte is and NSMD, {rank}, against {truth}"
        found.append(Contrast(name, tuple(values.values()), error=float(np.mean(errors))))
    return found


def rank_correlation(a: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return Spearman's r of `a` and each of several rows."""
    own, others = rankdata(a), rankdata(rows, axis=1)
    own, others = own - own.mean(), others - others.mean(axis=1, keepdims=True)
    return others @ own / np.sqrt((own @ own) * (others**2).sum(axis=1))


def lowest_rank_is_worse_at_nearly_every_byte(m: Measured) -> list[Contrast]:
    """Hold the share of bytes at which the lowest rank has the higher mean NSMD to above nine in ten."""
    lowest, best = lowest_and_best(m)
    higher = by_byte(m, NSMD, lowest) > by_byte(m, NSMD, best)
    return [less(f"share of {higher.shape[1]} bytes, {lowest} above {best}", higher.mean(axis=1), above=NEARLY_ALL)]


def better_models_predict_the_rarest_more(m: Measured) -> list[Contrast]:
    """Contrast how often the best rank and each truth predict one of the ten rarest bytes with the lowest rank's.

    "The most bottlenecked model never assigns the most probability mass to any of the 10 least frequent bytes (with
    non-zero occurrences) given a prompt. This suggests that the softmax bottleneck causes the model to have
    insufficient confidence in predicting infrequent tokens, compared to a more expressive model". (4.3)
    """
    rarest, (lowest, best) = occurrences(m).tail(EXTREMES).index, lowest_and_best(m)
    rows = m.table("bytes")
    of_truths = rows[(rows.measure == ARGMAX) & (rows.kind == "truth") & rows["class"].isin(rarest)]
    better = {str(truth): pd.Series([float(part.value.sum())], [-1]) for truth, part in of_truths.groupby("model")}
    better |= {str(best): by_byte(m, ARGMAX, best)[rarest].sum(axis=1)}
    low = by_byte(m, ARGMAX, lowest)[rarest].sum(axis=1)
    return [
        less(f"share of predictions that are one of the rarest, {name} less {lowest}", of, low)
        for name, of in better.items()
    ]


def lowest_rank_predicts_the_commonest_too_often(m: Measured) -> list[Contrast]:
    """Contrast how often the lowest and the best rank predict the ten commonest bytes with how often these occur.

    "The best-performing models, EvaByte and the strongest NanoGPT models predict tokens with similar relative
    frequencies to the tokens' actual occurrences. [...] The model with a bottleneck of size 4 often assigns the most
    probability to the most commonly occurring bytes more than it should". (4.3)
    """
    shares = occurrences(m, SHARE).head(EXTREMES)
    lowest, best = (by_byte(m, ARGMAX, rank)[shares.index].sum(axis=1) for rank in lowest_and_best(m))
    of_text = pd.Series(shares.sum(), lowest.index)
    names = [f"share of predictions that are one of the commonest, {rank} less the text" for rank in lowest_and_best(m)]
    return [less(names[0], lowest, of_text), within(names[1], best, of_text, TOLERANCE)]


def more_bytes_are_predicted(m: Measured) -> list[Contrast]:
    """Contrast how many bytes each rank ever predicts with how many the one before does.

    "As the softmax bottleneck is alleviated, models learn to confidently predict a larger set of tokens, doing so in
    descending order of token frequency." (8)
    """
    sizes = {rank: (by_byte(m, ARGMAX, rank) > 0).sum(axis=1) for rank in m.ranks()}
    return [less(f"bytes that are ever predicted, {b} less {a}", sizes[b], sizes[a]) for a, b in m.steps()]


def they_are_the_frequent_ones(m: Measured) -> list[Contrast]:
    """Hold the chance that a byte that a rank predicts is more frequent than one that it never does to above a half."""
    counts, found = occurrences(m), []
    for rank in m.ranks():
        ever = by_byte(m, ARGMAX, rank).reindex(columns=counts.index, fill_value=0.0) > 0
        values = {
            seed: outranking(counts[own], counts[~own]) for seed, own in ever.iterrows() if own.any() and not own.all()
        }
        if values:
            name = f"chance that a predicted byte is more frequent than another, {rank}"
            found.append(less(name, pd.Series(values), above=0.5))
    return found


CLAIMS = [
    Claim(
        "rare-bytes-oversmoothed-more",
        "4.3, Figure 4.2",
        "The rarer a byte, the more the lowest rank and the best model oversmooth where it comes next.",
        "Spearman's r, over bytes, of how rare a byte is and the mean NSMD where it is the right one, above 0, at "
        "either rank; against the truth that was not trained here. Over seeds, and over texts that are drawn again.",
        rare_bytes_are_oversmoothed_more,
    ),
    Claim(
        "lowest-rank-worse-at-every-byte",
        "4.3, Figure 4.2",
        "The lowest rank oversmooths more than the best model at nearly every byte.",
        "Share of bytes with the higher mean NSMD at the lowest rank, above nine in ten.",
        lowest_rank_is_worse_at_nearly_every_byte,
    ),
    Claim(
        "better-models-predict-the-rarest-more",
        "4.3, Figure 4.3",
        "The lowest rank makes the ten rarest bytes the most probable less often than better models do.",
        "Share of positions at which the best rank, and each truth, predicts one of them, less the lowest rank's.",
        better_models_predict_the_rarest_more,
    ),
    Claim(
        "lowest-rank-predicts-the-commonest-too-often",
        "4.3, Figure 4.3",
        "The lowest rank predicts the commonest bytes more often than they occur, and the best about as often.",
        "Share of positions at which a rank predicts one of the ten commonest bytes less their share of the text: "
        "above 0 at the lowest rank, within a tenth at the best (equivalence).",
        lowest_rank_predicts_the_commonest_too_often,
    ),
    Claim(
        "more-bytes-are-predicted",
        "8, Figure 4.3",
        "The higher the rank, the more different bytes a model predicts.",
        "Bytes that are the most probable anywhere in the windows: at each rank less at the one before.",
        more_bytes_are_predicted,
    ),
    Claim(
        "frequent-bytes-are-predicted-first",
        "8, Figure 4.3",
        "The bytes that a rank predicts are the more frequent ones.",
        "Chance that a byte of the text that a rank ever predicts is more frequent than one that it never does, above "
        "one half; where a rank predicts all, there is nothing to compare.",
        they_are_the_frequent_ones,
    ),
]
