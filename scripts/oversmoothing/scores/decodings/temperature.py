"""Temperature: sharper or flatter distributions."""

import math

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.probabilities import Array, smallest


def temperature(p: Array, t: float = 0.8) -> Array:
    """Raise each probability to the power 1/t and renormalise: softmax(logits / t), from probabilities.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions; a zero stays zero.
    t : float
        Temperature, above 0; 1 changes nothing, lower values sharpen.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    Raises
    ------
    ValueError
        If `t` is not a positive finite number.
    """
    if not 0 < t < math.inf:
        raise ValueError(f"temperature: {t} is not a positive finite number")
    if t == 1:
        return p
    xp = api.array_namespace(p)
    # In logarithms relative to the largest, because p ** (1/t) of a whole row may underflow. Zeros take the
    # logarithm of the smallest number and are restored by the mask, which is faster than where().
    logs = xp.log(xp.maximum(p, smallest(p)))
    powers = xp.exp((logs - xp.max(logs, axis=1, keepdims=True)) / t) * xp.astype(p > 0, p.dtype)
    powers /= xp.sum(powers, axis=1, keepdims=True)
    return powers


# Beyond these bounds float32 loses precision.
METHOD = Method(temperature, (Parameter("temperature", 0.8, low=0.01, high=100),))
