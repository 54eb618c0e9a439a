"""What a head's rows tell of its tokens, and which sets of these it can score above all others, for the JSON."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oversmoothing.commands.one_head.text import SEED
from oversmoothing.data.tokens.vocabulary import Vocabulary
from oversmoothing.measures.entries.argmaxability import counted_sets
from oversmoothing.models.final_norm import Norm
from oversmoothing.models.head_rows import Moments, distances, leading_directions, semi_axes

DIRECTIONS, ENDS = 3, 5  # leading ones, and tokens at either end of each
NEAR = 0.5  # of the median distance from the mean row, below which a row looks untrained
NEAREST = 10  # rows that are named
SIZES = 2, 5  # of sets
SETS = 16  # of each size at most
SEARCHES = 2  # of a size in a head of more than `SEARCHED` numbers, as one takes ten seconds
SEARCHED = 2**22
TEXT, TRUTH = "text", "truth"  # where sets come from
COMMON = 100  # commonest tokens of the text, of which sets are drawn without a truth


def of_rows(weights: np.ndarray, of: Moments, norm: Norm | None, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return ``directions``, ``near_mean`` and ``ellipsoid`` of a head (v, d) behind a norm, if there is one."""
    return {
        "directions": _directions(weights, of, vocabulary),
        "near_mean": _near_mean(weights, of, vocabulary),
        "ellipsoid": None if norm is None else _ellipsoid(of, norm),
    }


def of_sets(
    weights: np.ndarray, bias: np.ndarray | None, of: Moments, drawn: dict[int, np.ndarray], source: str
) -> dict[str, Any]:
    """Return ``top_sets``: which of the sets (n, k), by their size k, the head can score above all other tokens."""
    searches = None if weights.size <= SEARCHED else SEARCHES
    found: dict[str, Any] = {"source": source, "sizes": []}
    for k, sets in drawn.items():
        found["sizes"].append({"k": k, **counted_sets(weights, bias, sets, searches, of.scatter)})
    return found


def sets_of_truth(p: np.ndarray) -> dict[int, np.ndarray]:
    """Return by size k the different sets of the k likeliest tokens of distributions p (n, v), at most `SETS`."""
    sizes = [k for k in SIZES if k < p.shape[1]]
    return {k: np.unique(np.sort(np.argsort(-p, axis=1, kind="stable")[:, :k]), axis=0)[:SETS] for k in sizes}


def sets_of_text(tokens: np.ndarray) -> dict[int, np.ndarray]:
    """Return by size k `SETS` random sets of the commonest tokens of a text (n,); none where it has fewer than k."""
    kinds, counts = np.unique(tokens, return_counts=True)
    common = kinds[np.argsort(-counts, kind="stable")[:COMMON]]
    draw = np.random.default_rng(SEED)
    sizes = [k for k in SIZES if k <= len(common)]
    return {k: np.array([draw.choice(common, k, replace=False) for _ in range(SETS)]) for k in sizes}


def named(vocabulary: Vocabulary, tokens: Sequence[int]) -> list[dict[str, Any]]:
    """Return the id and the text of each of some tokens."""
    return [
        {"id": int(vocabulary.ids[i]), "text": vocabulary.texts[i].decode(errors="backslashreplace")} for i in tokens
    ]


def _directions(weights: np.ndarray, of: Moments, vocabulary: Vocabulary) -> list[dict[str, Any]]:
    shares, coordinates = leading_directions(weights, of, DIRECTIONS)
    order = np.argsort(coordinates, axis=0, kind="stable")
    ends = [(column[::-1][:ENDS].tolist(), column[:ENDS].tolist()) for column in order.T]
    return [
        {"share": float(share), "high": named(vocabulary, high), "low": named(vocabulary, low)}
        for share, (high, low) in zip(shares, ends, strict=True)
    ]


def _near_mean(weights: np.ndarray, of: Moments, vocabulary: Vocabulary) -> dict[str, Any]:
    distance = distances(weights, of)
    median, nearest = float(np.median(distance)), np.argsort(distance, kind="stable")[:NEAREST]
    tokens = zip(named(vocabulary, nearest.tolist()), distance[nearest].tolist(), strict=True)
    return {
        "median": median,
        "threshold": NEAR,
        "below": int((distance < NEAR * median).sum()),
        "nearest": [token | {"distance": value} for token, value in tokens],
    }


def _ellipsoid(of: Moments, norm: Norm) -> dict[str, Any]:
    axes = semi_axes(of, norm.gain, norm.centres)
    longest, shortest = map(float, (axes[0], axes[-1])) if len(axes) else (0.0, 0.0)
    ratio = longest / shortest if shortest else None
    return {"norm": norm.name, "axes": len(axes), "longest": longest, "shortest": shortest, "ratio": ratio}
