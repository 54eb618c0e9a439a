"""The cap that some models put on their logits."""

from typing import Any

import array_api_compat as api


def softcapped(logits: Any, cap: float | None) -> Any:
    """Return c tanh(z / c) of each linear logit z, in its type; without a cap the logits themselves.

    It rises with z, so it changes no order of the logits; its slope at z is 1 - (c tanh(z / c) / c)^2 (Gemma Team,
    "Gemma 2: improving open language models at a practical size", arXiv 2408.00118, 2024, section 2).
    """
    return logits if cap is None else cap * api.array_namespace(logits).tanh(logits / cap)
