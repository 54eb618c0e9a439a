"""The tables and figures of bytes are made again when what they show changes, and no more."""

FIGURE = "results/figures/argmax_frequency.png"
DRAWN = {"bytes_table": 1, "byte_figures": 1}


def test_bytes_follow_the_scores_and_their_table_the_statistics(planned):
    """What a truth says of bytes needs no score, so another tau leaves it as it is."""
    assert planned(FIGURE) == {}
    assert planned(FIGURE, ("metrics:\n", "metrics:\n  tau: 0.8\n")) == {"score": 2, "bytes": 2, **DRAWN}
    assert planned(FIGURE, ("resamples: 100", "resamples: 200")) == DRAWN
