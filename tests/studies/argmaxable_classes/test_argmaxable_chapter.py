"""What the chapter opens with: how many bytes are proved never to be the most probable."""

from opening import opening, row

from studies.argmaxable_classes.chapter import CHAPTER


def test_bytes_of_any_hidden_state_are_counted():
    rows = [
        row("unargmaxable", 120, condition="free"),
        row("unargmaxable", 150, condition="reachable"),
        row("unargmaxable", 0, condition="free", rank=288),
        row("undecided", 3, condition="free"),
    ]
    sentence = opening(CHAPTER, "argmaxability", *rows)
    assert sentence.endswith("number 120 at rank 4 and 0 at rank 288.")
