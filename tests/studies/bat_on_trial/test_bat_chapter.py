"""What the chapter opens with: how often the premise is false, and what is rejected."""

from opening import opening, row

from studies.bat_on_trial.chapter import CHAPTER


def test_the_premise_at_both_ends_and_both_cuts_at_the_lowest_rank():
    rows = [
        row("exceeded", 0.8, 0.7, 0.9),
        row("exceeded", 0.6, 0.5, 0.75, rank=288),
        row("rejected_mass", 0.3, 0.2, 0.4),
        row("rejected_mass", 0.0, 0.0, 0.0, rank=288),
        row("top_rejected_mass", 0.25, 0.22, 0.3),
    ]
    text = opening(CHAPTER, "bat_premise", *rows)
    assert "0.800 [0.700, 0.900] at rank 4 and 0.600 [0.500, 0.750] at rank 288. By its interval alone" in text
    assert "at rank 4: 0.300 [0.200, 0.400] by BAT and 0.250 [0.220, 0.300] by a cut" in text
    assert text.endswith("cannot be distinguished from that by BAT.")
