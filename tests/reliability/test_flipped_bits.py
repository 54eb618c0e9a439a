"""A flipped bit in any file that a job reads is named, or changes nothing."""

import pytest
from flips import HARMLESS, NAMED, campaign, finished_study

FLIPS = 200


@pytest.mark.slow
def test_no_flipped_bit_changes_a_result_without_a_word(tmp_path, monkeypatch):
    study = finished_study(tmp_path / "study")
    monkeypatch.chdir(study.folder)
    counts = campaign(FLIPS, seed=0)
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{count:4} {outcome:9} {kind}")
    assert sum(counts.values()) == FLIPS
    assert {outcome for _, outcome in counts} == {NAMED, HARMLESS}
    assert sum(count for (_, outcome), count in counts.items() if outcome == NAMED) > FLIPS / 2
