"""The findings of the thesis that the core measures, as claims that can fail."""

from oversmoothing.claims import decodings, thesis, truncated

CLAIMS = [*thesis.CLAIMS, *decodings.CLAIMS, *truncated.CLAIMS]
