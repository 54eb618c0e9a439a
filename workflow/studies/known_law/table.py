"""Table of what models show against a law that is known: levels, the share that is forced, and what stand-ins hide."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.tables.record import record
from studies.known_law.correlations import IMPOSSIBLE

INTERVAL = ("value", "low", "high")
LAW, STAND_INS = "law", "stand-ins"  # truths
MEASURES = {
    "tto": "probability",
    "kl": "nats",
    "forced": "nats",
    "rest": "nats",
    "tv": "probability",
    "nsmd": "probability",
}
BIAS = "_bias"  # of a measure: against models that stand in for the law, less against the law
RATIO = "_octaves"  # of a measure: binary logarithm of its ratio to that at the smallest text of the law
EXCESS = "_excess"  # of a measure: less that of the model of the highest rank of the same seed
SEES = "_correlation"  # of a metric: Spearman's rank correlation with the mass on impossible bytes, over positions
LIMIT = "_limit"  # of a measure: what is left of it with ever more text, if it falls as one over the root of the text
CAUGHT, HARM = "caught", "harm"
SEEING = ("tto", "nsmd", "tv", "kl", "tbat")
ENDINGS = {"model": "", "nearest": "_nearest"}  # of these measures: of the model, of the nearest that its head can give
ARM = ["law", "sequences", "kind", "rank", "arm"]


def known_law_table(
    scores: pd.DataFrame, trials: pd.DataFrame, seen: pd.DataFrame, learners: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Levels against the law and its stand-ins, their differences, what more text does, and BAT on trial.

    Parameters
    ----------
    scores : DataFrame
        ``text``, ``model``, ``truth`` and a column for each of `MEASURES`: means over positions.
    trials : DataFrame
        ``text``, ``model`` and the columns of `trial.TRIAL`; may be empty.
    seen : DataFrame
        ``text``, ``model`` and a column for each of `SEEING`: its correlation (see `correlations`); may be empty.
    learners : sequence of mappings
        Facts of each model that learns a text (see `plan.rows`).

    Returns
    -------
    DataFrame
        Record, with ``law`` and ``sequences``; rows of models, and of arms over ``n`` seeds with 95 % intervals by
        Student's t. Against the truth `STAND_INS` are means over these; a stand-in is held against the others. Measures
        that end in `BIAS`, `EXCESS`, `RATIO` and `LIMIT` are paired by seed.
    """
    known = pd.DataFrame(learners)
    levels = scores.merge(known, on=["text", "model"])
    pooled = levels.assign(truth=levels.truth.where(levels.truth == LAW, STAND_INS))
    pooled = pooled[levels.truth != levels.model]
    pooled = pooled.groupby([*ARM, "seed", "truth"], as_index=False, dropna=False)[list(MEASURES)].mean()
    pooled = pooled.merge(_excesses(pooled), how="left")
    rows = [*_levels(pooled), *_biases(pooled), *_with_more_text(pooled)]
    if len(trials):
        rows += [*_trial(trials.merge(known, on=["text", "model"])), *_seeing(seen.merge(known, on=["text", "model"]))]
    return record(rows)


def _over_seeds(values: Iterable[float]) -> dict[str, Any]:
    by_seed = [float(value) for value in values]
    return {**dict(zip(INTERVAL, student_interval(by_seed), strict=True)), "n": len(by_seed)}


def _arms(table: pd.DataFrame, *more: str) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    for key, part in table.groupby([*ARM, *more], sort=False, dropna=False):
        yield dict(zip([*ARM, *more], key, strict=True)), part.sort_values("seed")


def _excesses(pooled: pd.DataFrame) -> pd.DataFrame:
    """What each member shows beyond that of the highest rank with the same seed, text and truth."""
    of_pair = ["law", "sequences", "truth", "seed"]
    members = pooled[pooled.kind == "family"]
    highest = members[members["rank"] == members["rank"].max()].set_index(of_pair)[list(MEASURES)]
    others = members[members["rank"] != members["rank"].max()].set_index([*of_pair, "arm"])[list(MEASURES)]
    return others.sub(highest.reindex(others.index.droplevel("arm")).to_numpy()).add_suffix(EXCESS).reset_index()


def _levels(pooled: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield each measure by arm and truth, and its excess over the highest rank."""
    for keys, part in _arms(pooled, "truth"):
        for measure, unit in MEASURES.items():
            yield {**keys, "measure": measure, **_over_seeds(part[measure]), "unit": unit, "better": "lower"}
            if part[measure + EXCESS].notna().all():
                yield {**keys, "measure": measure + EXCESS, **_over_seeds(part[measure + EXCESS]), "unit": unit}


def _biases(pooled: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what a model shows against the stand-ins less what it shows against the law, paired by seed."""
    units = {measure + ending: unit for ending in ("", EXCESS) for measure, unit in MEASURES.items()}
    for keys, part in _arms(pooled):
        if STAND_INS not in part.truth.to_numpy():
            continue
        by_truth = part.pivot(index="seed", columns="truth", values=list(units))
        for measure, unit in units.items():
            difference = by_truth[measure][STAND_INS] - by_truth[measure][LAW]
            if difference.notna().all():
                yield {**keys, "measure": measure + BIAS, **_over_seeds(difference), "unit": unit}


def _with_more_text(pooled: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the ratio of each longer text's values to those of the shortest, and the limit of two lengths."""
    against = pooled[pooled.truth == LAW]
    for _, part in against.groupby(["law", "arm"], sort=False):
        least = part.sequences.min()
        for sequences in sorted(set(part.sequences) - {least}):
            both = part[part.sequences.isin([least, sequences])]
            of_arm = dict(zip(ARM, part[part.sequences == sequences][ARM].iloc[0], strict=True)) | {"truth": LAW}
            for measure, unit in MEASURES.items():
                short, long = paired(both, measure, least, sequences)
                if len(short) and (np.minimum(short, long) > 0).all():
                    octaves = np.log2(long / short)
                    yield {**of_arm, "measure": measure + RATIO, **_over_seeds(octaves), "unit": "octaves"}
                if len(short):
                    left = limit(short, long, sequences / least)
                    yield {**of_arm, "measure": measure + LIMIT, **_over_seeds(left), "unit": unit}


def paired(table: pd.DataFrame, measure: str, least: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of a measure with two lengths of text, of the seeds that learned both."""
    both = table.pivot_table(index="seed", columns="sequences", values=measure).dropna()
    if not {least, most} <= set(both.columns):
        return np.empty(0), np.empty(0)
    return both[least].to_numpy(), both[most].to_numpy()


def limit(short: np.ndarray, long: np.ndarray, ratio: float) -> np.ndarray:
    r"""Return c of a quantity :math:`c + b / \sqrt{n}`, from its values at n and at `ratio` times n."""
    root = np.sqrt(ratio)
    left: np.ndarray = (root * long - short) / (root - 1)
    return left


def _trial(trials: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield, of each arm, the mass on impossible bytes, and what BAT and its rivals at equal harm catch of it."""
    sums = ["n", IMPOSSIBLE, CAUGHT, HARM]
    by_model = trials.groupby([*ARM, "seed", "of", "method", "parameter"], as_index=False, dropna=False)[sums].sum()
    shares = by_model.assign(
        **{
            IMPOSSIBLE: by_model[IMPOSSIBLE] / by_model.n,
            CAUGHT: by_model[CAUGHT] / by_model[IMPOSSIBLE],
            HARM: by_model[HARM] / by_model.n,
        }
    )
    for keys, part in _arms(shares, "of"):
        ending = ENDINGS[str(keys.pop("of"))]
        bat = part[part.method == "bat"]
        named = {**keys, "truth": LAW}
        impossible = bat.drop_duplicates("seed")[IMPOSSIBLE]
        yield {**named, "measure": IMPOSSIBLE + ending, **_over_seeds(impossible), "unit": "probability"}
        for delta, at in bat.groupby("parameter"):
            caught = {"bat": at.set_index("seed")[CAUGHT]}
            harm = at.set_index("seed")[HARM]
            of_bat = {"measure": HARM + ending, "decoding": f"bat {delta:g}", "unit": "probability"}
            yield {**named, **of_bat, **_over_seeds(harm)}
            for rival, curve in part[part.method != "bat"].groupby("method"):
                by_seed = {s: at_harm(one[HARM], one[CAUGHT], harm[s]) for s, one in curve.groupby("seed")}
                caught[str(rival)] = pd.Series(by_seed)
            for name, values in caught.items():
                decoding = f"bat {delta:g}" if name == "bat" else name
                measured = {"measure": CAUGHT + ending, "decoding": decoding, "unit": "share"}
                yield {**named, **measured, **_over_seeds(values), "better": "higher"}


def _seeing(seen: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how each metric goes with the mass on impossible bytes, but for one that is the same everywhere."""
    for keys, part in _arms(seen):
        for metric in SEEING:
            if part[metric].notna().all():
                correlation = {"measure": metric + SEES, **_over_seeds(part[metric]), "unit": "Spearman's rho"}
                yield {**keys, "truth": LAW, **correlation}


def at_harm(harm: pd.Series, caught: pd.Series, wanted: float) -> float:
    """What a method catches where it does as much harm as another one, between the settings that were tried.

    With none of its settings it does no harm and catches nothing.
    """
    order = np.argsort(harm.to_numpy())
    xs, ys = np.append(0.0, harm.to_numpy()[order]), np.append(0.0, caught.to_numpy()[order])
    return float(np.interp(wanted, xs, np.maximum.accumulate(ys)))
