"""What a model's head forces of its distance from a truth, whatever enters it, and the rest."""

from collections.abc import Callable

import numpy as np

from oversmoothing.forced.division import divide
from oversmoothing.forced.ellipsoid import BehindNorm
from oversmoothing.forced.face import UNDECIDED, YES, faces
from oversmoothing.forced.head import Head, prepare
from oversmoothing.measures.catalogue import POSITION, Measure, Statistic
from oversmoothing.measures.window import Window
from oversmoothing.models.heads import ModelHead
from oversmoothing.numerics.distributions import distributions
from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.nucleus import nucleus
from oversmoothing.scores.probabilities import softmax

Where = tuple[str, Callable[[np.ndarray], np.ndarray]] | None


def forced(
    window: Window, per_window: int | None, tau: float | None, norm_per_window: int | None
) -> dict[str, np.ndarray]:
    """Return KL at some positions, in nats, the part that the head forces, the rest, and the gap of the proof.

    With the mass `tau` of the truth's nucleus also TTO and TV of the model and of the nearest distribution that the
    head can give, q*; and whether the nucleus is a face of the head. With `norm_per_window` what the head forces with
    the LayerNorm before it, at so many of these positions. What is not computed is NaN, and no face decided.
    """
    assert window.head is not None
    assert window.truth is not None
    at, head = window.positions(per_window), window.head.once(family)
    p = softmax(window.truth[at].astype(np.float64))
    log_q, nearest, rest = divide(head, window.model[at], p)
    found = {POSITION: at, "kl": nearest.forced + rest, "forced": nearest.forced, "rest": rest, "gap": nearest.gap}
    together = np.full(len(p), np.nan)
    if tau is None:
        unknown = dict.fromkeys(("tto", "tv", "nearest_tto", "nearest_tv"), together.astype(np.float32))
        return {**found, **unknown, "face": np.full(len(p), UNDECIDED, np.int8), "norm_forced": together}
    inside = nucleus(p, tau)
    tto, tv = _tto_and_tv(log_q, p, inside)
    if head.full:  # q* is the truth
        nearest_tto = nearest_tv = np.zeros(len(p), np.float32)
        face = np.full(len(p), YES, np.int8)
    else:
        nearest_tto, nearest_tv = _tto_and_tv(nearest.log_q, p, inside)
        face = faces(head.columns, inside)
        if norm_per_window is not None and window.head.gain is not None:
            some = positions_of(len(p), norm_per_window)
            on_ellipsoid = window.head.once(behind).project(distributions(p[some], p.shape[1]), log_q[some])
            together[some] = np.maximum(on_ellipsoid.forced, nearest.forced[some])  # up to rounding
    found |= {"tto": tto, "tv": tv, "nearest_tto": nearest_tto, "nearest_tv": nearest_tv}
    return {**found, "face": face, "norm_forced": together}


def family(head: ModelHead) -> Head:
    """Return a head in coordinates for projections, restricted to the dimensions that a LayerNorm leaves free.

    So what it forces is a lower bound of what norm and head force together.
    """
    return prepare(head.weights if head.gain is None else behind_norm(head.weights, head.gain), head.bias)


def behind(head: ModelHead) -> BehindNorm:
    """Return a head together with the LayerNorm before it."""
    assert head.gain is not None
    return BehindNorm(head.weights, head.gain, head.bias, centres=True)


def _tto_and_tv(log_q: np.ndarray, truth: np.ndarray, inside: np.ndarray) -> np.ndarray:
    more = np.maximum(np.exp(log_q) - truth, 0)
    return np.stack([(more * ~inside).sum(axis=1), more.sum(axis=1)]).astype(np.float32)


def _decided(face: np.ndarray) -> np.ndarray:
    return face != UNDECIDED


def _known(values: np.ndarray) -> np.ndarray:
    return ~np.isnan(values)


ON_NORM = "norm_forced", _known


def _of(column: str, label: str, unit: str = "nats", decimals: int = 3, where: Where = None) -> Statistic:
    return Statistic((column,), label, unit, "lower", decimals=decimals, where=where)


MEASURE = Measure(
    "forced",
    forced,
    needs=("logits", "truth", "head"),
    statistics={
        "kl": _of("kl", "KL (nats)"),
        "forced": _of("forced", "KL forced by its head", decimals=4),  # small at high ranks
        "rest": _of("rest", "the rest (nats)"),
        "tto": _of("tto", "TTO", "probability", where=("tto", _known)),
        "nearest_tto": _of("nearest_tto", "TTO of q*", "probability", where=("nearest_tto", _known)),
        "tv": _of("tv", "TV", "probability", where=("tv", _known)),
        "nearest_tv": _of("nearest_tv", "TV of q*", "probability", where=("nearest_tv", _known)),
        "face": Statistic(("face",), "faces", "share of positions", decimals=3, where=("face", _decided)),
        "norm_kl": _of("kl", "of KL there (nats)", where=ON_NORM),
        "norm_forced": _of("norm_forced", "forced with norm (nats)", decimals=4, where=ON_NORM),
        "share": Statistic(("forced", "kl"), "share of KL forced", "share of KL", "lower", kind="share", decimals=3),
        "gap": Statistic(("gap",), "largest gap of the proof (nats)", "nats", kind="largest"),
    },
    table="forced",
    settings={"per_window": 1, "tau": None, "norm_per_window": None},
)
