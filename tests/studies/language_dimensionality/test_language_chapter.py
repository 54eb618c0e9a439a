"""What the chapter opens with: the share that is lost of the longest contexts of byte pairs, without noise."""

from opening import opening, row

from studies.language_dimensionality.chapter import CHAPTER


def lost(value, low, high, dimensions, context=3, **keys):
    place = {"text": "train", "token": "byte pair", "context": context, "dimensions": dimensions} | keys
    return row("without_noise", value, low, high, model=None, kind=None, rank=None, seed=None, **place)


def test_the_fewest_and_the_most_dimensions_are_given():
    rows = [lost(0.8, 0.7, 0.9, 4), lost(0.6, 0.5, 0.7, 32), lost(0.2, 0.1, 0.3, 1000), lost(0, 0, 0, 2000)]
    others = [lost(0.9, 0.9, 0.9, 2, context=1), lost(0.9, 0.9, 0.9, 2, token="byte")]
    sentence = opening(CHAPTER, "language_dimensionality", *rows, *others)
    assert "0.800 [0.700, 0.900] with 4 dimensions and 0.200 [0.100, 0.300] with 1,000 dimensions." in sentence


def test_of_too_little_text_nothing_is_said():
    assert opening(CHAPTER, "language_dimensionality", row("w_error", 0.5, text="train", token="byte pair")) == ""
