"""What holds in all tests."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def one_thread():
    """Leave PyTorch at one thread, whatever a test has set: with more, sums differ in their last bits."""
    yield
    torch.set_num_threads(1)


def pytest_collection_modifyitems(items):
    """Begin with the longest, those of the workflow, so that all cores end together."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)
