"""Top-p sampling: the nucleus."""

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.nucleus import nucleus
from oversmoothing.scores.probabilities import Array, renormalised


def top_p(p: Array, mass: float = 0.9) -> Array:
    """Keep the nucleus of each row (see `oversmoothing.scores.nucleus.nucleus`) and renormalise (Holtzman et al. 2020).

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    mass : float
        The p of top-p, in (0, 1]; 1 changes nothing.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    Raises
    ------
    ValueError
        If `mass` lies outside (0, 1].
    """
    # Rounding may bring the cumulative mass to 1 before the last token; p = 1 must keep that token too.
    return p if mass == 1 else renormalised(p, nucleus(p, mass))


METHOD = Method(top_p, (Parameter("p", 0.9, high=1, above=True),))
