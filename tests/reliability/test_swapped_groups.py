"""Files of another text, law, seed, metric or model that fit each other are named by whoever reads them.

`DAMAGE_SEED` in the environment changes which jobs read them.
"""

import pytest
from flips import NAMED, exchange
from groups import swapped_groups

GROUPS = 40


@pytest.mark.slow
def test_no_group_of_files_passes_for_another(finished, monkeypatch):
    elsewhere = finished("laws", text=1).folder
    monkeypatch.chdir(finished("laws").folder)
    counts = exchange(swapped_groups(elsewhere), GROUPS)
    assert len({kind for kind, _ in counts}) >= 20
    assert {outcome for _, outcome in counts} == {NAMED}
