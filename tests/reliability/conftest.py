"""Finished studies whose jobs can be run again one by one."""

from functools import cache

import pytest
from flips import finished_study
from study import ARMS, SWAPS, TINY, TOKENS

CONFIGS = {"default": TINY, "gradient": ARMS, "subword": TOKENS, "swaps": SWAPS}


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return the function from a config's name to its finished study, built once; tests leave it as they found it."""
    return cache(lambda name: finished_study(tmp_path_factory.mktemp("finished") / name, CONFIGS[name]))
