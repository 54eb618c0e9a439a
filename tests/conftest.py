"""One thread of PyTorch between tests, whatever one of them has set: with more, sums differ in their last bits."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def one_thread():
    yield
    torch.set_num_threads(1)
