"""What the chapter opens with: the loss of each way to impose the lowest rank."""

from opening import opening, row

from studies.imposed_rank.chapter import CHAPTER


def test_each_way_is_named_at_the_lowest_rank():
    rows = [
        row("loss", 2.2, 2.1, 2.3),
        row("loss", 2.1, 2.0, 2.2, kind="retrained"),
        row("loss", 3.0, 2.9, 3.1, kind="svd"),
        row("loss", 1.5, 1.4, 1.6, rank=288),
        row("tto", 0.3),
    ]
    sentence = opening(CHAPTER, "imposed_rank", *rows)
    assert sentence == (
        "At rank 4 the loss, in nats, is 2.200 [2.100, 2.300] learned with a narrow head, 3.000 [2.900, 3.100] with "
        "the full model's head cut and 2.100 [2.000, 2.200] with W = A B trained on the frozen full model. By its "
        "interval alone the number with W = A B trained on the frozen full model cannot be distinguished from that "
        "learned with a narrow head."
    )
