"""What the chapter opens with: English words in samples and in people's texts."""

from opening import opening, row

from studies.sample_quality.chapter import CHAPTER


def test_samples_stand_beside_the_first_set_of_human_texts():
    human = {"kind": "human", "rank": None}
    rows = [
        row("valid_words", 0.5, 0.4, 0.6, decoding="pure"),
        row("valid_words", 0.9, 0.8, 1.0, decoding="greedy"),
        row("valid_words", 0.7, 0.5, 0.8, model="human", **human),
        row("valid_words", 0.1, 0.0, 0.2, model="human, second set", **human),
    ]
    sentence = opening(CHAPTER, "sample_quality", *rows)
    assert (
        "is 0.500 [0.400, 0.600] at rank 4 and 0.700 [0.500, 0.800] in people's texts. By its interval alone"
        in sentence
    )
