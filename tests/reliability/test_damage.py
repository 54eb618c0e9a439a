"""Damaged or swapped files of a finished study are named by the job that reads them, or change nothing.

`DAMAGE_SEED` in the environment changes which.
"""

from functools import cache

import pytest
from flips import HARMLESS, NAMED, campaign, cut, exchange, finished_study, flipped, zeroed
from study import ARMS, SWAPS, TINY, TOKENS
from swaps import swaps

pytestmark = pytest.mark.slow
CONFIGS = {"default": TINY, "gradient": ARMS, "subword": TOKENS, "swaps": SWAPS}
FLIPS = {"default": 200, "gradient": 150, "subword": 150}
CUTS = BLOCKS = 20
FILES = {"swaps": 60, "subword": 30}


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return the function from a config's name to its finished study, built once.

    Its jobs can be run again one by one; tests leave it as they found it.
    """
    return cache(lambda name: finished_study(tmp_path_factory.mktemp("finished") / name, CONFIGS[name]))


@pytest.mark.parametrize("name", FLIPS)
def test_no_flip_cut_or_lost_block_changes_a_result_without_a_word(name, finished, monkeypatch):
    monkeypatch.chdir(finished(name).folder)
    damages = [flipped] * FLIPS[name] + [cut] * CUTS + [zeroed] * BLOCKS
    counts = campaign(damages)
    assert sum(counts.values()) == len(damages)
    assert {outcome for _, outcome in counts} == {NAMED, HARMLESS}
    assert sum(count for (_, outcome), count in counts.items() if outcome == NAMED) > len(damages) / 2


@pytest.mark.parametrize("name", FILES)
def test_no_file_passes_for_another(name, finished, monkeypatch):
    """A valid file of another model, seed, truth, metric, decoding, step, head or study."""
    elsewhere = finished("default").folder
    monkeypatch.chdir(finished(name).folder)
    counts = exchange(swaps(elsewhere), FILES[name])
    assert sum(counts.values()) == FILES[name]
    expected = {"model", "metric", "decoding", "showcase", "study"}
    expected |= {"head"} if name == "subword" else {"seed", "truth", "step"}
    assert {difference for difference, _ in counts} >= expected
    assert {outcome for _, outcome in counts} <= {NAMED, HARMLESS}
    assert sum(count for (_, outcome), count in counts.items() if outcome == NAMED) > FILES[name] * 0.9
