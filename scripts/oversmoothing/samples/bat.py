"""BAT sampling: draw only tokens that are provably in the support of the true distribution (Finlayson et al. 2024)."""

from collections.abc import Mapping
from typing import Any

import array_api_compat as api
import numpy as np

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.reject import reject_set
from oversmoothing.jobs import UserError
from oversmoothing.models.predictor import Predictor, head_matrix
from oversmoothing.numerics.log_ratio import DELTA
from oversmoothing.scores.catalogue.decoders import parameters
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.probabilities import Array, Decoder, renormalised

MASS_TOLERANCE = 1e-9  # tokens with less total mass are dropped without a proof, which saves time


def decoder_of(decoding: Mapping[str, Any], model: Predictor) -> Decoder:
    """Return the map for ``{name: bat, delta: 0.22}``; a `UserError` names an invalid value or head."""
    if (cap := getattr(model, "cap", None)) is not None:
        raise UserError(f"decoding bat: it needs linear logits, and this model's are capped at {cap:g}; leave bat out")
    try:
        return bat_decoder(head_matrix(model, "decoding bat").detach().cpu().numpy(), *parameters(decoding))
    except ValueError as error:
        raise UserError(f"decoding bat: {error}") from error


def bat_decoder(weights: np.ndarray, delta: float = DELTA, mass_tolerance: float = MASS_TOLERANCE) -> Decoder:
    """Return the map that removes each distribution's BAT-reject set and renormalises (thesis 2.2 and appendix D).

    The authors draw tokens until a linear program proves one to be in the support of every possible truth, which
    samples from the same distribution. Their threshold is not a separate parameter: a token with p_i > 1 - e^-delta
    needs no program. Undecided tokens are removed as well. If none is proved to be in the support, the most probable
    token is kept, the lowest id among equals. The condition is the thesis's, W^T q = W^T p; the one after a LayerNorm
    needs the hidden state, which a decoder does not see.

    The map takes distributions (n, v), NumPy arrays or torch tensors on any device; sets are computed on the CPU. From
    the rank v - 1 of `weights` (v, d) on it is `pure`. `delta` and `mass_tolerance` are those of `reject_set`. A
    `ValueError` is raised if weights are not finite or a number is out of range; in a call, for no distribution.
    """
    basis = prepare(weights)
    v = len(basis.columns)
    reject_set(basis, np.empty((0, v)), delta, mass_tolerance)  # validates the parameters now, not while sampling
    if basis.full:
        return pure

    def bat(p: Array) -> Array:
        xp = api.array_namespace(p)
        wide = p if api.is_numpy_array(p) else xp.astype(p, xp.float64).cpu().numpy()  # NumPy has no bfloat16
        sets = reject_set(basis, wide, delta, mass_tolerance)
        keep = ~(sets.rejected | sets.undecided)
        unproved = np.flatnonzero(~keep.any(axis=1))
        keep[unproved, sets.p[unproved].argmax(axis=1)] = True
        return renormalised(p, xp.asarray(keep, device=api.device(p)))

    return bat
