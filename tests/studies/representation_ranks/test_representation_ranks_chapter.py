"""What the chapter opens with: the effective rank of hidden states."""

from opening import opening, row

from studies.representation_ranks.chapter import CHAPTER


def test_hidden_states_before_the_bottleneck_are_given():
    rows = [
        row("effective_rank", 90.2, representation="pre"),
        row("effective_rank", 150.6, representation="pre", rank=288),
        row("effective_rank", 3, representation="post"),
        row("numerical_rank", 4, representation="pre"),
    ]
    sentence = opening(CHAPTER, "effective_rank", *rows)
    assert "of 90 at rank 4 and 151 at rank 288." in sentence
