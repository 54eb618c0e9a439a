"""The processes that train one model together, each on its own device; for a single one most of this is a no-op."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class Group:
    """One of the processes that train together."""

    number: int = 0  # its rank, as PyTorch says; 0 holds the lock and writes the files
    size: int = 1  # number of processes
    local_number: int = 0  # its number on this machine, which is the index of its GPU

    @property
    def leads(self) -> bool:
        """Whether this process writes the files."""
        return self.number == 0

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean of a float tensor over the processes, bit-identical in each of them."""
        if self.size > 1:
            distributed.all_reduce(value)
            value /= self.size
        return value

    def any(self, flag: bool) -> bool:
        """Return whether a flag is set in any process; exchanged on the CPU, so that no GPU waits for it."""
        if self.size == 1:
            return flag
        seen = torch.tensor(int(flag))
        distributed.all_reduce(seen, distributed.ReduceOp.MAX)
        return bool(seen)

    def wait(self) -> None:
        """Wait until every process has reached this point."""
        self.any(False)

    def replicate(self, model: nn.Module) -> nn.Module:
        """Wrap a model so that a backward pass leaves the mean gradient in every process."""
        if self.size == 1:
            return model
        return DistributedDataParallel(model, forward_sync_buffers=False, gradient_as_bucket_view=True)

    def accumulating(self, replica: nn.Module) -> AbstractContextManager[None]:
        """Return the context of every backward pass of a step but the last, in which no gradients are exchanged."""
        return replica.no_sync() if isinstance(replica, DistributedDataParallel) else nullcontext()


@contextmanager
def join(rendezvous: str) -> Iterator[Group]:
    """Join the processes of this training, numbered by the same environment variables as under torchrun.

    `rendezvous` is ``file:///...`` on one machine, or ``env://`` for the address in MASTER_ADDR and MASTER_PORT.
    """
    number, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, init_method=rendezvous, rank=number, world_size=size)
    try:
        yield Group(number, size, int(os.environ.get("LOCAL_RANK", number)))
    finally:
        distributed.destroy_process_group()
