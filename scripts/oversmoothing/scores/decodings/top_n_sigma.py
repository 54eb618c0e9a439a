"""Top-n-sigma sampling: the tokens whose logits are near the largest, in standard deviations of all logits."""

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.probabilities import Array, renormalised, smallest


def top_n_sigma(p: Array, n: float = 1.0) -> Array:
    """Keep the tokens with logits within `n` standard deviations of the largest and renormalise (Tang et al. 2025).

    The logits are ln p up to a constant, which changes neither their differences nor their standard deviation. That is
    the root of the sum of squares over one less than the number of tokens, as in the authors' code (`logits.std`). A
    token with probability 0 has no logit: it is left out of both. The most probable token is always kept, and equal
    probabilities are kept or dropped together. A temperature before this method leaves the same tokens.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    n : float
        Number of standard deviations, above 0.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    References
    ----------
    C. Tang, J. Liu, H. Xu and L. Huang, "Top-n sigma: Eliminating noise in logit space for robust token sampling of
    LLM", ACL 2025.
    """
    xp = api.array_namespace(p)
    there = xp.astype(p > 0, p.dtype)
    count = xp.sum(there, axis=1, keepdims=True)
    # Relative to the largest, so that equal logits differ by exactly 0.
    logs = xp.log(xp.maximum(p, smallest(p)))
    logs -= xp.max(logs, axis=1, keepdims=True)
    deviation = (logs - xp.sum(logs * there, axis=1, keepdims=True) / count) * there
    variance = xp.sum(deviation * deviation, axis=1, keepdims=True) / xp.maximum(count - 1, 1)
    return renormalised(p, logs >= -n * xp.sqrt(variance))


METHOD = Method(top_n_sigma, (Parameter("sigmas", 1.0, above=True),))
