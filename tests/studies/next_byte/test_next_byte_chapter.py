"""What the chapter opens with: the byte that follows the first prompt."""

from opening import opening, row

from studies.next_byte.chapter import CHAPTER


def test_the_first_prompt_is_an_example():
    truth = {"kind": "truth", "rank": None, "model": "truth"}
    rows = [
        row("p_next", 0.9, prompt="first", note="r", **truth),
        row("p_next", 0.1, prompt="first", note="r"),
        row("p_next", 0.8, prompt="first", note="r", rank=288),
        row("p_next", 0.5, prompt="other", note="{"),
    ]
    sentence = opening(CHAPTER, "next_byte", *rows)
    assert sentence == (
        "After the first prompt “r” follows; its probability is 0.100 at rank 4, 0.800 at rank 288 and 0.900 for the "
        "truth."
    )
    odd = opening(CHAPTER, "next_byte", rows[-1])
    assert odd == "After the first prompt “{” follows; its probability is 0.500 at rank 4."
