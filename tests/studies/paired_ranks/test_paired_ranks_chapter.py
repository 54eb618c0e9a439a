"""What the chapter opens with: costs paired by seed and, with one seed too, the gradient that passes the head."""

from opening import opening, row

from studies.paired_ranks.chapter import CHAPTER


def test_what_a_rank_costs_is_compared_with_0():
    rows = [
        row("loss", 0.6, 0.5, 0.7),
        row("loss", 0.1, -0.1, 0.3, kind="backward"),
        row("loss", 0.9, 0.8, 1.0, kind="plain less backward"),
        row("loss", 0.2, 0.1, 0.3, rank=8),
    ]
    sentence = opening(CHAPTER, "paired_ranks", *rows)
    assert sentence.startswith("At rank 4 the loss above that of the full head with the same seed, in nats, is 0.600")
    assert sentence.endswith(
        "0.100 [-0.100, 0.300] learned with the rank on the gradient alone. By its interval the number learned with "
        "the rank on the gradient alone cannot be distinguished from 0."
    )


def test_what_passes_the_head_is_of_the_last_step():
    rows = [row("gradient_share", value, step=step, seed=seed) for step, seed, value in ((0, 1, 0.9), (5, 1, 0.1))]
    sentence = opening(CHAPTER, "gradient", *rows)
    assert sentence.endswith("without an interval, 0.100 at rank 4.")
    seeds = opening(CHAPTER, "gradient", *rows, row("gradient_share", 0.3, step=5, seed=2))
    assert "0.200 at rank 4" in seeds
