"""BAT sampling: draw only tokens that are provably in the support of the true distribution (Finlayson et al. 2024)."""

from collections.abc import Mapping
from typing import Any

import array_api_compat as api
import numpy as np

from oversmoothing.bat import DELTA
from oversmoothing.bat.basis import prepare
from oversmoothing.bat.reject import reject_set
from oversmoothing.jobs import UserError
from oversmoothing.models.predictor import Predictor, cap_of, head_matrix
from oversmoothing.scores.catalogue.decoders import parameters
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.probabilities import Array, Decoder, renormalised

MASS_TOLERANCE = 1e-9  # tokens with less total mass are dropped without a proof, which saves time


def decoder_of(decoding: Mapping[str, Any], model: Predictor) -> Decoder:
    """Return the map for ``{name: bat, delta: 0.22}``; a `UserError` names an invalid value or head."""
    if (cap := cap_of(model)) is not None:
        raise UserError(f"decoding bat: it needs linear logits, and this model's are capped at {cap:g}; leave bat out")
    try:
        return bat_decoder(head_matrix(model, "decoding bat").detach().cpu().numpy(), *parameters(decoding))
    except ValueError as error:
        raise UserError(f"decoding bat: {error}") from error


def bat_decoder(weights: np.ndarray, delta: float = DELTA, mass_tolerance: float = MASS_TOLERANCE) -> Decoder:
    """Decoder that removes each distribution's BAT-reject set and renormalises (thesis 2.2 and appendix D).

    The authors draw tokens until a linear program proves one to be in the support of every possible truth, which
    samples from the same distribution. Their threshold is not a separate parameter: a token with p_i > 1 - e^-delta
    needs no program. Tokens that cannot be decided in floating point are removed as well. If no token is proved to be
    in the support (a flat distribution of a head of low rank), the most probable one is kept, the lowest id among
    equals, which is greedy decoding. The condition is the thesis's, W^T q = W^T p; the one after a LayerNorm needs the
    hidden state, which a decoder does not see.

    Parameters
    ----------
    weights : array, shape (v, d)
        The head W of the model. From rank v - 1 on (v with the constant vector) no token is ever rejected, and the
        decoder is `pure`.
    delta : float
        Largest log ratio of the truth to the model, in nats, 0 to 20.
    mass_tolerance : float
        As in `reject_set`; 0 decides every token. A vocabulary of sub-words is decoded much faster with 1e-3.

    Returns
    -------
    callable
        Map of distributions (n, v), NumPy arrays or torch tensors on any device; the sets are computed on the CPU.

    Raises
    ------
    ValueError
        If `weights` is not a finite matrix or a number is out of range; in a call, if a row is not a distribution.

    References
    ----------
    M. Finlayson, J. Hewitt, A. Koller, S. Swayamdipta and A. Sabharwal, "Closing the curious case of neural text
    degeneration", ICLR 2024.
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
