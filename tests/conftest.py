"""What holds in all tests."""

import hypothesis
import pytest
import torch

torch.set_num_threads(1)
hypothesis.settings.register_profile("patient", deadline=None)  # a busy machine is no error
hypothesis.settings.load_profile("patient")


@pytest.fixture(autouse=True)
def one_thread():
    """Leave PyTorch at one thread, whatever a test has set: with more, sums differ in their last bits."""
    yield
    torch.set_num_threads(1)


def pytest_collection_modifyitems(items):
    """Begin with the longest, those of the workflow, so that all cores end together."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)
