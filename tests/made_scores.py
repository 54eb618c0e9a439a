"""Distributions and their metrics by formula, all decodings that can be scored, and files of scores."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oversmoothing.scores.catalogue.decoders import maps, methods
from oversmoothing.scores.files import SCORES, ScoreRows
from oversmoothing.store.parquet import open_writer

# Every decoding as an entry of a config, with its default: top-p with p = 0.9, and so on.
DECODINGS = [{"name": name, **{known.key: known.default for known in methods()[name].parameters}} for name in maps()]


@st.composite
def distributions(draw, dtype=np.float32, leading=()):
    """Rows of small counts, so that zeros and ties are common: 1 to 5 of 1 to 40 tokens."""
    n, v = draw(st.integers(1, 5)), draw(st.integers(1, 40))
    counts = draw(hnp.arrays(np.int64, (*leading, n, v), elements=st.integers(0, 6)))
    counts[..., draw(st.integers(0, v - 1))] += 1
    return (counts / counts.sum(axis=-1, keepdims=True)).astype(dtype)


def write_scores(path, scores, schema=SCORES):
    """Write scores, each a window, truth, decoding, values by position and further columns; return the path."""
    with open_writer(path, schema, {}) as writer:
        rows = ScoreRows(writer, schema)
        for window, truth, decoding, values, *more in scores:
            rows.add(window, truth, decoding, np.asarray(values, np.float32), *more)
        rows.flush()
    return path


BY_FORMULAS = ("tto", "nsmd", "tv", "kl", "entropy_difference")  # the catalogue may have more


def by_formulas(p_bn, p_gt, tau):
    """Return the metrics `BY_FORMULAS` of one row in float64, as in their formulas."""
    order = np.argsort(-p_gt, kind="stable")
    size = np.searchsorted(np.cumsum(p_gt[order]), tau) + 1
    inside, outside = order[:size], order[size:]
    some_gt, some_bn = p_gt[p_gt > 0], p_bn[p_bn > 0]
    return [
        np.maximum(p_bn - p_gt, 0)[outside].sum(),
        (p_gt - p_bn)[inside].sum(),
        abs(p_gt - p_bn).sum() / 2,
        (some_gt * np.log(some_gt / np.maximum(p_bn[p_gt > 0], 1e-9))).sum(),
        (some_bn * np.log2(some_bn)).sum() - (some_gt * np.log2(some_gt)).sum(),
    ]
