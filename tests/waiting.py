"""Waiting for what another process does."""

import time


def wait_for(found, process):
    """Return what is found while a process runs, as soon as there is something."""
    limit = time.monotonic() + 600
    while not (result := found()):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < limit
        time.sleep(0.005)
    return result
