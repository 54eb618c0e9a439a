"""What a head forces at each position of a window, and what is left; rows of ``scores/forced/{model}.parquet``."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.special import logsumexp

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.ellipsoid import project_on_ellipsoid
from oversmoothing.forced.face import YES, faces
from oversmoothing.forced.head import Head
from oversmoothing.forced.model_heads import ModelHead
from oversmoothing.forced.projection import Projection, project_on
from oversmoothing.nucleus import nucleus
from oversmoothing.score_files import NAME
from oversmoothing.spaced import positions_of

OFF_FAMILY = 1e-4  # nats: mean divergence above which logits are not those of the head; states in bf16 give 1e-7

FORCED_SCORES = pa.schema(
    [
        ("window", pa.int32()),
        ("position", pa.int32()),  # from 0 at the first scored byte or token
        ("truth", NAME),
        ("kl", pa.float64()),  # nats, = forced + rest; of the model
        ("forced", pa.float64()),  # KL(truth || q*)
        ("rest", pa.float64()),  # KL(q* || model), as kl - forced
        ("gap", pa.float64()),  # the true value of `forced` lies in [forced - gap, forced]
        ("tto", pa.float32()),  # of the model
        ("tv", pa.float32()),
        ("nearest_tto", pa.float32()),  # of q*
        ("nearest_tv", pa.float32()),
        ("face", pa.int8()),  # see `face.faces`
        ("norm_forced", pa.float64()),  # by norm and head together, at most; null where it was not computed
    ]
)


@dataclass(frozen=True)
class ForcedScores:
    """Values at n positions, shape (n,) each, as the columns of `FORCED_SCORES` say."""

    kl: np.ndarray
    forced: np.ndarray
    rest: np.ndarray
    gap: np.ndarray
    tto: np.ndarray
    tv: np.ndarray
    nearest_tto: np.ndarray
    nearest_tv: np.ndarray
    face: np.ndarray
    norm_forced: np.ndarray  # NaN where it was not computed


def on_family(head: Head, logits: np.ndarray) -> np.ndarray:
    """Log-probabilities, float64 (n, v), of a head's distributions that are closest to stored logits (n, v).

    Logits are stored in float32, or rebuilt from states in bf16, so they lie off the family by rounding, and the
    identity KL(p || q) = KL(p || q*) + KL(q* || q) would hold only up to that.

    Raises
    ------
    ValueError
        If they lie off it by more: a cap, a mixture, or another head.
    """
    stored = logits.astype(np.float64)
    stored -= logsumexp(stored, axis=1, keepdims=True)
    if head.full:
        return stored
    closest = head.coordinates(stored) @ head.columns.T + head.bias
    closest -= logsumexp(closest, axis=1, keepdims=True)
    off = float(divergence(np.exp(stored), closest).mean())
    if not off <= OFF_FAMILY:
        raise ValueError(f"logits that lie {off:.2g} nats off what its head can give")
    return closest


def divide(head: Head, logits: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, Projection, np.ndarray]:
    """Log-probabilities of a model (n, v), the nearest distributions to the truth, and the rest (n,), in nats.

    The rest is what the forced part leaves of the KL, and so as accurate as that is. KL(q* || q) is the same, but of a
    q* that is found up to a gap it errs by the gap's root. Parameters and errors are those of `score_forced`.
    """
    log_q = on_family(head, logits)
    nearest = project_on(head, truth, log_q)
    return log_q, nearest, np.maximum(divergence(truth, log_q) - nearest.forced, 0)


def score_forced(
    model: ModelHead, head: Head, logits: np.ndarray, truth: np.ndarray, tau: float, behind_norm: int | None
) -> ForcedScores:
    """Split the distance of a model from a truth at n positions into what its head forces and the rest.

    Parameters
    ----------
    model : ModelHead
    head : Head
        The same, prepared.
    logits : array, shape (n, v)
        The model's.
    truth : array, shape (n, v)
        The truth's distributions, float64.
    tau : float
        Mass of the truth's nucleus.
    behind_norm : int or None
        Number of the positions, evenly spaced, at which what norm and head force is computed; None for none.

    Raises
    ------
    ValueError
        As in `on_family`.
    """
    log_q, nearest, rest = divide(head, logits, truth)
    tto, tv = _tto_and_tv(log_q, truth, tau)
    together = np.full(len(truth), np.nan)
    if head.full:  # q* is the truth
        nearest_tto = nearest_tv = np.zeros(len(truth))
        face = np.full(len(truth), YES, np.int8)
    else:
        nearest_tto, nearest_tv = _tto_and_tv(nearest.log_q, truth, tau)
        face = faces(head.columns, nucleus(truth, tau))
        if behind_norm is not None and model.gain is not None:
            at = positions_of(len(truth), behind_norm)
            on_ellipsoid = project_on_ellipsoid(model.weights, model.gain, truth[at], model.bias, log_q[at])
            together[at] = np.maximum(on_ellipsoid.forced, nearest.forced[at])  # up to rounding
    forced = nearest.forced
    return ForcedScores(forced + rest, forced, rest, nearest.gap, tto, tv, nearest_tto, nearest_tv, face, together)


def _tto_and_tv(log_q: np.ndarray, truth: np.ndarray, tau: float) -> np.ndarray:
    more = np.maximum(np.exp(log_q) - truth, 0)
    return np.stack([(more * ~nucleus(truth, tau)).sum(axis=1), more.sum(axis=1)])
