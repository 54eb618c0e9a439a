"""A language model over tokens, read byte by byte: its exact next-byte distributions along a text.

All encodings of the beginnings of a text are a tree of tokens (`oversmoothing.bytewise.covers`), and one pass of the
model with a mask that shows each token its ancestors alone serves them all. Where a model cannot be masked so, because
it keeps a state or attends within a window, the branches are read as a batch of texts, which takes longer.
"""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from oversmoothing.bytewise.covers import Tree
from oversmoothing.bytewise.next_bytes import NextBytes, next_bytes
from oversmoothing.bytewise.reading import read_spelling
from oversmoothing.bytewise.spelling import Spelling
from oversmoothing.data.tokens.vocabulary import AUTO, FAST, as_ids, load_tokenizer, vocabulary_of
from oversmoothing.jobs import UserError
from oversmoothing.models.device import Compute, autocast
from oversmoothing.models.pretrained.auto import one_line_errors
from oversmoothing.models.pretrained.folder import CONFIG, read_json
from oversmoothing.models.truths.load import first_ids, load_token_lm
from oversmoothing.models.truths.token_model import TokenModel, typical_error

logger = logging.getLogger(__name__)

NODES, BRANCHES = 128, 8  # nodes whose logits are computed together; branches that are read together
BEFORE = ("bos_token_id", "eos_token_id")  # in a config: what stands before a text whose tokenizer puts nothing there
PROBE = Tree(*map(np.array, ([-1, 1, 2, 3, 2, 4, 5, 3], [-1, 0, 1, 2, 0, 4, 5, 1], [0, 1, 2, 3, 1, 2, 3, 2])))


class ByteView:
    """A model over tokens that gives distributions over bytes, sharpened to p^(1 / `temperature`) of its tokens."""

    def __init__(self, model: TokenModel, spelling: Spelling, temperature: float, compute: Compute) -> None:
        self.model, self.spelling, self.temperature, self.compute = model, spelling, temperature, compute
        self.context = model.config.block
        self.masked = self._takes_trees()

    def next_bytes(self, text: bytes, start: int) -> NextBytes:
        """Return distributions over the bytes of a text from `start` on (see `oversmoothing.bytewise.next_bytes`).

        Up to three bytes at its beginning that belong to a character before it are left out.
        """
        inside = next((at for at in range(min(4, start)) if text[at] >> 6 != 2), 0)
        try:
            return next_bytes(self.spelling, self.predict, text[inside:], start - inside)
        except (UserError, ValueError) as error:
            raise UserError(f"{self.model.name}: {error}") from error

    @torch.inference_mode()
    def predict(self, tree: Tree) -> np.ndarray:
        """Return log-probabilities, float32 (nodes, ids), of the token behind each node of a tree."""
        if (deepest := int(tree.depths.max())) > self.context:
            raise UserError(f"a text of {deepest} tokens is longer than its context, {self.context}; shorten it")
        rows = np.full((len(tree.tokens), len(self.spelling.texts)), -np.inf, np.float32)
        columns, at = self.model.table.cpu().numpy(), 0
        for states in self.states(tree).split(NODES):
            logits = self.model.logits(states) / self.temperature
            special = self.model.special_logits(states) / self.temperature
            total = torch.logaddexp(logits.logsumexp(-1), special.logsumexp(-1))
            if not total.isfinite().all():
                raise UserError("its logits are not all finite numbers; its weights are damaged")
            rows[at : at + len(states), columns] = (logits - total[:, None]).cpu().numpy()
            at += len(states)
        return rows

    def states(self, tree: Tree) -> Tensor:
        """Return what enters the head at each node, float32 (nodes, width)."""
        before, tree = len(self.model.bos) - 1, self._begun(tree)
        with autocast(self.compute.device, self.compute.precision), one_line_errors("it does not run"):
            if self.masked and not self._beyond(tree):
                return self._masked(tree)[before:].float()
            read = int(tree.depths[_leaves(tree)].sum())
            logger.info("%s: branch by branch, %d tokens are read for %d", self.model.name, read, len(tree.tokens))
            return self._branches(tree)[before:].float()

    def _begun(self, tree: Tree) -> Tree:
        """Return a tree whose root is the last of the ids before a text, behind the others."""
        before = len(self.model.bos) - 1
        return Tree(
            np.concatenate([self.model.bos, tree.tokens[1:]]),
            np.concatenate([np.arange(-1, before), tree.parents[1:] + before]),
            np.concatenate([np.arange(before), tree.depths + before]),
        )

    def _masked(self, tree: Tree) -> Tensor:
        """Return states from one pass over all nodes, each of which attends to its ancestors and itself."""
        device, dtype = self.compute.device, self.model.trunk.dtype
        seen = np.eye(len(tree.tokens), dtype=bool)
        for node in range(1, len(seen)):
            seen[node] |= seen[tree.parents[node]]
        mask = torch.zeros(seen.shape, dtype=dtype).masked_fill(~torch.from_numpy(seen), torch.finfo(dtype).min)
        states: Tensor = self.model.trunk(
            input_ids=self._ids(tree)[None],
            attention_mask=mask[None, None].to(device),
            position_ids=torch.from_numpy(tree.depths)[None].to(device),
            use_cache=False,
        ).last_hidden_state[0]
        return states

    def _branches(self, tree: Tree) -> Tensor:
        """Return states from a pass over each branch, from the root to a leaf, some at a time."""
        ids, states = self._ids(tree), None
        for nodes, lengths in _batches(tree):
            output = self.model.trunk(input_ids=ids[nodes], use_cache=False).last_hidden_state
            states = output.new_empty(len(ids), output.shape[-1]) if states is None else states
            for branch, of_branch, length in zip(nodes, output, lengths, strict=True):
                states[branch[:length]] = of_branch[:length]
        assert states is not None
        return states

    def _ids(self, tree: Tree) -> Tensor:
        return torch.from_numpy(tree.tokens).to(self.compute.device)

    def _beyond(self, tree: Tree) -> bool:
        """Return whether the model attends within a window that is shorter than a branch."""
        window = getattr(self.model.trunk.config.get_text_config(), "sliding_window", None)
        return window is not None and int(tree.depths.max()) >= window

    @torch.inference_mode()
    def _takes_trees(self) -> bool:
        """Return whether the states of a small tree do not depend on how it is read; tells the log if they do."""
        ids = self.model.table.cpu().numpy()
        tree = self._begun(PROBE._replace(tokens=ids[PROBE.tokens % len(ids)]))
        with autocast(self.compute.device, self.compute.precision):
            apart = self._branches(tree)
            try:
                error = typical_error(self.model.logits(self._masked(tree)), self.model.logits(apart))
            except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):
                error = np.inf
        if not (takes := error < self.model.tolerance):
            slower = "it takes no mask of a tree, so beginnings of a text are read one by one: the same numbers"
            logger.warning("%s: %s, in many times the time", self.model.name, slower)
        return takes


def _batches(tree: Tree) -> Iterator[tuple[Tensor, list[int]]]:
    """Yield branches of a tree, int64 (branches, longest), from root to leaf, which is repeated, and their lengths."""
    leaves = _leaves(tree)
    leaves = leaves[np.argsort(tree.depths[leaves], kind="stable")]
    for first in range(0, len(leaves), BRANCHES):
        branches = []
        for node in leaves[first : first + BRANCHES]:
            branch = [int(node)]
            while branch[-1]:
                branch.append(int(tree.parents[branch[-1]]))
            branches.append(branch[::-1])
        longest = max(map(len, branches))
        padded = [branch + branch[-1:] * (longest - len(branch)) for branch in branches]
        yield torch.tensor(padded), [len(branch) for branch in branches]


def _leaves(tree: Tree) -> np.ndarray:
    """Return nodes that are no parents."""
    return np.setdiff1d(np.arange(len(tree.tokens)), tree.parents)


def load_byte_view(
    folder: str | Path, name: str, settings: Mapping[str, Any], device: torch.device, precision: str
) -> ByteView:
    """Return the byte view of a causal language model in a folder, with ``bos`` and ``temperature`` of the settings.

    ``bos`` are the ids before every text; "auto" are those that the tokenizer puts there, or else the config's for
    the beginning or the end of a text. Errors are those of `load_token_lm` and `read_spelling`.
    """
    path = Path(folder) / FAST
    spelling = read_spelling(path)
    bos = settings.get("bos", AUTO)
    first = first_ids(folder, bos)
    if not first:
        config = read_json(Path(folder) / CONFIG)
        first = as_ids(next((config[key] for key in BEFORE if isinstance(config.get(key), int)), None))
    if not first:
        raise UserError(f"{name}: neither its tokenizer nor {CONFIG} names an id before texts; write it as `bos`")
    model = load_token_lm(folder, name, vocabulary_of(load_tokenizer(path), path), first, device, precision)
    return ByteView(model, spelling, settings.get("temperature", 1.0), Compute(device, precision))
