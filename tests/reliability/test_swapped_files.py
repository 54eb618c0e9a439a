"""A valid file of another model, seed, truth, metric, decoding, step, head or study is named by whoever reads it.

`DAMAGE_SEED` in the environment changes which.
"""

import pytest
from flips import HARMLESS, NAMED, exchange
from swaps import swaps

SWAPS = {"swaps": 60, "subword": 30}


@pytest.mark.slow
@pytest.mark.parametrize("name", SWAPS)
def test_no_file_passes_for_another(name, finished, monkeypatch):
    elsewhere = finished("default").folder
    monkeypatch.chdir(finished(name).folder)
    counts = exchange(swaps(elsewhere), SWAPS[name])
    assert sum(counts.values()) == SWAPS[name]
    assert {difference for difference, _ in counts} >= {"model", "metric", "decoding", "showcase", "study"}
    assert {"seed", "truth", "step"} <= {difference for difference, _ in counts} or name == "subword"
    assert "head" in {difference for difference, _ in counts} or name != "subword"
    assert {outcome for _, outcome in counts} <= {NAMED, HARMLESS}
    assert sum(count for (_, outcome), count in counts.items() if outcome == NAMED) > SWAPS[name] * 0.9
