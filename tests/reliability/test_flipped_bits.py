"""A flipped bit, a cut or a lost block in any file that a job reads is named, or changes nothing.

`DAMAGE_SEED` in the environment changes which.
"""

import pytest
from flips import HARMLESS, NAMED, campaign, cut, flipped, zeroed

FLIPS = {"default": 200, "gradient": 150, "subword": 150}
CUTS = BLOCKS = 20


@pytest.mark.slow
@pytest.mark.parametrize("name", FLIPS)
def test_no_damage_changes_a_result_without_a_word(name, finished, monkeypatch):
    monkeypatch.chdir(finished(name).folder)
    damages = [flipped] * FLIPS[name] + [cut] * CUTS + [zeroed] * BLOCKS
    counts = campaign(damages)
    assert sum(counts.values()) == len(damages)
    assert {outcome for _, outcome in counts} == {NAMED, HARMLESS}
    assert sum(count for (_, outcome), count in counts.items() if outcome == NAMED) > len(damages) / 2
