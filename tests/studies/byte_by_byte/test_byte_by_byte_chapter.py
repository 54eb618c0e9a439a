"""What the chapter opens with: how many bytes that occur are never a model's most probable one."""

from opening import opening, row

from studies.byte_by_byte.chapter import CHAPTER


def shares(rank, *values, **facts):
    return [row("argmax_share", value, rank=rank, **{"class": byte}, **facts) for byte, value in enumerate(values)]


def test_bytes_that_occur_and_are_never_predicted_are_counted():
    text = [
        row(measure, count, kind=None, rank=None, seed=None, model=None, note="x", **{"class": byte})
        for byte, count in enumerate((5, 3, 1, 0))
        for measure in ("occurrences", "share")
    ]
    rows = [*text, *shares(4, 1, 0, 0, 0), *shares(288, 0.5, 0.5, 0, 0), *shares(None, 1, 1, 1, 1, kind="truth")]
    sentence = opening(CHAPTER, "bytes", *rows)
    assert sentence.startswith("Of the 3 bytes that occur in the text, ")
    assert sentence.endswith("2 at rank 4 and 1 at rank 288.")
    seeds = opening(CHAPTER, "bytes", *rows, *shares(4, 1, 1, 0, 0, seed=2), *shares(4, 1, 1, 0, 0, seed=3))
    assert "1 at rank 4" in seeds
