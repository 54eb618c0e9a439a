"""Top-k sampling: the k most probable tokens."""

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.nucleus import largest
from oversmoothing.scores.probabilities import Array, renormalised


def top_k(p: Array, k: int = 5) -> Array:
    """Keep the k most probable tokens of each row and renormalise (Fan et al. 2018).

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    k : int
        Number of tokens to keep, 1 to v; 1 is `greedy` and v changes nothing.

    Returns
    -------
    array, shape (n, v)
        Distributions.
    """
    v = p.shape[1]
    return p if k == v else renormalised(p, largest(p, k))


METHOD = Method(top_k, (Parameter("k", 5, low=1, whole=True),))
