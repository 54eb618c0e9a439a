"""Finished studies whose jobs can be run again one by one."""

from functools import cache

import pytest
from flips import finished_study
from study import ARMS, LAWS, SWAPS, TINY, TOKENS

CONFIGS = {"default": TINY, "gradient": ARMS, "subword": TOKENS, "swaps": SWAPS, "laws": LAWS}


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return the function from a config's name, and a text's number, to its finished study, built once.

    Tests leave it as they found it.
    """
    return cache(lambda name, text=0: finished_study(tmp_path_factory.mktemp("finished") / name, CONFIGS[name], text))
