"""Table of what models show against a law that is known: levels, the share that is forced, and what stand-ins hide."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.tables.record import over_seeds, record

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
LIMIT = "_limit"  # of a measure: what is left of it with ever more text, if it falls as one over the root of the text
ARM = ["law", "sequences", "kind", "rank", "arm"]


def known_law_table(scores: pd.DataFrame, learners: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Levels against the law and its stand-ins, their differences, and what more text does.

    Parameters
    ----------
    scores : DataFrame
        ``text``, ``model``, ``truth`` and a column for each of `MEASURES`: means over positions.
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
    return record([*_levels(pooled), *_biases(pooled), *_with_more_text(pooled)])


def arms(table: pd.DataFrame, *more: str) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield the keys `ARM` and further ones, with their rows by seed."""
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
    for keys, part in arms(pooled, "truth"):
        for measure, unit in MEASURES.items():
            yield {**keys, "measure": measure, **over_seeds(part[measure]), "unit": unit, "better": "lower"}
            if part[measure + EXCESS].notna().all():
                yield {**keys, "measure": measure + EXCESS, **over_seeds(part[measure + EXCESS]), "unit": unit}


def _biases(pooled: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what a model shows against the stand-ins less what it shows against the law, paired by seed."""
    units = {measure + ending: unit for ending in ("", EXCESS) for measure, unit in MEASURES.items()}
    for keys, part in arms(pooled):
        if STAND_INS not in part.truth.to_numpy():
            continue
        by_truth = part.pivot(index="seed", columns="truth", values=list(units))
        for measure, unit in units.items():
            difference = by_truth[measure][STAND_INS] - by_truth[measure][LAW]
            if difference.notna().all():
                yield {**keys, "measure": measure + BIAS, **over_seeds(difference), "unit": unit}


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
                    yield {**of_arm, "measure": measure + RATIO, **over_seeds(octaves), "unit": "octaves"}
                if len(short):
                    left = limit(short, long, sequences / least)
                    yield {**of_arm, "measure": measure + LIMIT, **over_seeds(left), "unit": unit}


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


def named(path: str, table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns ``text`` and ``model``: files lie in ``laws/{text}/scores/{metric}/{model}.parquet``."""
    return table.assign(text=Path(path).parts[-4], model=Path(path).stem)
