"""Evidence for the claims, and against them (tests/claims/)."""

import pandas as pd
from made_tables import around, by_rank, measured

from oversmoothing.claims.measured import Measured, Rank


def sampled(metric, new, rank=None, decoding="pure"):
    return "sample_quality", {"measure": metric, "rank": rank, "decoding": decoding}, new


AGAINST = {  # the thesis's own prose, by its own tables
    "decodings-write-shorter-words": (4, 28, "Word length, pure less greedy, rank 128"),
    "greedy-farthest-in-bytes": (1, 42, "Byte TV, top-p less pure, rank 8"),
    "greedy-words-are-valid": (6, 35, "valid words, greedy, rank 4"),
    "leaking-less-is-necessary": (6, 30, "Byte TV, rank 128 pure beside rank 512 pure"),
}
BROKEN = {  # what contradicts a claim that the printed means bear out
    "low-ranks-write-long-words": [sampled("word_length", 4.0, 8)],
    "low-ranks-write-few-valid-words": [sampled("valid_words", 0.9, 8)],
    "low-ranks-far-in-bytes": [sampled("byte_tv", 0.0, 8)],
    "low-ranks-low-mauve": [sampled("mauve", 1.0, 8)],
    "full-rank-samples-better": [sampled("byte_tv", 0.0, 16)],
    "svd-samples-worse-than-learned": [("sample_quality", {"measure": "mauve", "rank": 128, "kind": "svd"}, 0.999)],
    "quality-gains-diminish": [sampled("mauve", 0.02, 12)],
    "leaking-less-is-not-sufficient": [sampled("bigram", 0.0, 16, "greedy")],
    "rank-12-only-looks-human": [sampled("word_length", 9.0, 12)],
    "decodings-write-more-valid-words": [sampled("valid_words", 0.0, 16, "greedy")],
    "greedy-repeats-most": [sampled("bigram", 0.0, 16, "greedy")],
    "top-k-repeats-more-than-nucleus": [sampled("bigram", 0.0, 16, "top-k")],
    "repetition-rises-from-low-ranks": [sampled("bigram", 0.9, 8, "top-k")],
}
MENDED = {  # what bears out a claim that they contradict
    "decodings-write-shorter-words": [sampled("word_length", 3.0, rank, "greedy") for rank in (16, 32, 128, 512)],
    "greedy-farthest-in-bytes": [sampled("byte_tv", 0.9, 8, "greedy"), sampled("byte_tv", 0.8, 8, "top-p")],
    "greedy-words-are-valid": [sampled("valid_words", 0.95, rank, "greedy") for rank in (4, 8, 12, 16, 32, 128, 512)],
    "leaking-less-is-necessary": [sampled("valid_words", 0.95, 128), sampled("byte_tv", 1e-3, 128)],
}


def rare(at_16):
    of_ranks = by_rank("rare_bytes", {16: around(at_16, 1e-5), 32: around(2e-3, 1e-5), 512: around(1e-3, 1e-5)})
    people = {"kind": "human", "rank": None, "model": "human, second set", "measure": "rare_bytes", "value": 5e-4}
    return measured(
        (16, 32, 512), sample_quality=[*({"decoding": "pure", "model": "m", **row} for row in of_ranks), people]
    )


def greedy(at_4, at_288):
    """Samples of three seeds that end in a phrase of so many characters, with a letter more in one of them."""
    rows = [
        {"decoding": "greedy", "label": f"rank {rank}, seed 1", "rank": rank, "value": 0.0, "window": 0}
        | {"continuation": "Begun as " + ("x" * (length + seed % 2) + " ") * 4, "seed": seed}
        for rank, length in ((4, at_4), (288, at_288))
        for seed in (1, 2, 3)
    ]
    svd = {**rows[-1], "label": "SVD rank 4, seed 1", "rank": 4, "continuation": "y " * 9}
    ends = {**svd, "label": "rank 4, seed 1", "continuation": "It ends."}
    return Measured({"samples": pd.DataFrame([*rows, svd, ends])}, [Rank(4, 4), Rank(288, 288)])


CASES = {  # evidence for a claim, and against it
    "moderate-ranks-oversample-rare-bytes": (rare(3e-3), rare(7e-4)),
    "lowest-rank-repeats-the-shortest-phrase": (greedy(5, 20), greedy(20, 5)),
}
