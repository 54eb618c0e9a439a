"""BAT sampling: draw only tokens that are provably in the support of the true distribution (Finlayson et al. 2024)."""

import array_api_compat as api
import numpy as np

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.reject import DELTA, reject_set
from oversmoothing.decoding import Array, Decoder, pure
from oversmoothing.truncation import renormalised

MASS_TOLERANCE = 1e-9  # tokens that together hold less are dropped without a proof, which saves time


def bat_decoder(weights: np.ndarray, delta: float = DELTA, mass_tolerance: float = MASS_TOLERANCE) -> Decoder:
    """Build the decoding that drops each distribution's BAT-reject set and renormalises (thesis 2.2 and appendix D).

    The authors draw a token and redraw it until a linear program shows that no truth may lack it; that samples from
    what is built here. Their threshold is no setting of its own: a token with p_i > 1 - e^-delta needs no program.
    What cannot be decided in floating point is not proved, and dropped. Where no token is proved to be in the support
    (a flat distribution of a head of low rank) the most probable one stays, the lowest id among equals; so
    the method may end in greedy decoding. The condition is the thesis's, W^T q = W^T p; the one behind a LayerNorm
    needs the hidden state, which a decoding does not see.

    Parameters
    ----------
    weights : array, shape (v, d)
        The head W of the model whose distributions will come. From rank v - 1 on (with the constant vector, v)
        nothing is ever rejected, and the decoding is `pure`.
    delta : float
        In nats, 0 to 20: how far a truth may exceed the model.
    mass_tolerance : float
        As in `reject_set`: 0 decides every token.

    Returns
    -------
    callable
        From distributions (n, v), NumPy's or torch's on any device, to the same; the sets are found on the CPU.

    Raises
    ------
    ValueError
        If `weights` is not a finite matrix or a number is out of range; at a call, if a row is no distribution.

    References
    ----------
    M. Finlayson, J. Hewitt, A. Koller, S. Swayamdipta and A. Sabharwal, "Closing the curious case of neural text
    degeneration", ICLR 2024.
    """
    basis = prepare(weights)
    v = len(basis.columns)
    reject_set(basis, np.full(v, 1 / v), delta, mass_tolerance)  # refuses what is out of range here, not while sampling
    if basis.full:
        return pure

    def bat(p: Array) -> Array:
        xp = api.array_namespace(p)
        wide = p if api.is_numpy_array(p) else xp.astype(p, xp.float64).cpu().numpy()  # NumPy knows no bfloat16
        sets = reject_set(basis, wide, delta, mass_tolerance)
        keep = ~(sets.rejected | sets.undecided)
        unproved = np.flatnonzero(~keep.any(axis=1))
        keep[unproved, sets.p[unproved].argmax(axis=1)] = True
        return renormalised(p, xp.asarray(keep, device=api.device(p)))

    return bat
