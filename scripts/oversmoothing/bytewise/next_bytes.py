"""Exact next-byte distributions of a language model over tokens, along a text.

P(b | x) = P(x b) / P(x), and P(x) is the sum over the covers of x (`covers`). A cover of x b is an encoding of the
first j bytes of x and one token that begins with the rest of x and b. So one pass of the model over the tree of all
encodings gives every distribution; sums over tokens are sums over stretches of the sorted vocabulary.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from oversmoothing.bytewise.covers import Place, Tree, covers
from oversmoothing.bytewise.spelling import Spelling

BYTES = 256
Predict = Callable[[Tree], np.ndarray]  # log-probabilities (nodes, ids) of the token behind each node


class NextBytes(NamedTuple):
    """Distributions over the bytes of a text from some position on."""

    probabilities: np.ndarray  # float64 (n, 256), rows with sum 1
    # Float64 (n,): probability of what is no next byte: the end of the text, special tokens, and tokens that would make
    # a sequence which no text is encoded to.
    dropped: np.ndarray
    losses: np.ndarray  # float64 (n,), minus log-probability of each byte of the text, in nats


def next_bytes(spelling: Spelling, predict: Predict, text: bytes, start: int = 0) -> NextBytes:
    """Return distributions of a model over the bytes of a text from `start` on, each given all bytes before it.

    `spelling` is that of the model's tokenizer. Where this adds a space before a text, it is given too. `text` is
    UTF-8, and may end inside a character.

    Raises
    ------
    UserError
        If the text is no UTF-8, or not one that the tokenizer reads as it is.
    ValueError
        If `start` is outside the text, or the model gives a byte of the text no probability.
    """
    if not 0 <= start <= len(text):
        raise ValueError(f"start {start} lies outside a text of {len(text)} bytes")
    before = spelling.before(text, start)
    text, start = before + text, start + len(before)
    first = max(start - 1, 0)
    tree, places = covers(spelling, text, first)
    sums, logs = _sums(spelling, tree, places, predict(tree), text, first)
    totals = np.log(sums.sum(axis=1)) + logs  # of all next bytes
    reached = np.log(sums[np.arange(len(sums)), np.frombuffer(text[first:], np.uint8)]) + logs  # of that of the text
    if not np.isfinite(reached).all():
        at = first + int(np.argmin(np.isfinite(reached)))
        raise ValueError(f"the model gives byte {text[at]:#04x} at {at - len(before)} no probability")
    given = np.concatenate([[0.0] if not start else [], reached])[: len(text) - start]
    sums, totals = sums[start - first :], totals[start - first :]
    probabilities = sums / sums.sum(axis=1, keepdims=True)
    losses = -np.log(probabilities[np.arange(len(sums)), np.frombuffer(text[start:], np.uint8)])
    return NextBytes(probabilities, -np.expm1(totals - given), losses)


def _sums(
    spelling: Spelling, tree: Tree, places: list[Place], log_rows: np.ndarray, text: bytes, first: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums over covers (n, 256) for each next byte from `first` on, and the logarithm (n,) each row lacks."""
    tokens = spelling.by_text
    log_nodes = np.zeros(len(tree.tokens))
    for node in range(1, len(log_nodes)):
        parent = tree.parents[node]
        log_nodes[node] = log_nodes[parent] + log_rows[parent, tree.tokens[node]]
    sums, logs = np.zeros((len(text) - first, BYTES)), np.full(len(text) - first, -np.inf)
    for place in places:
        depth = max(first - place.at, 0)
        low, high = tokens.beginning(text[place.at : place.at + depth])
        ids = tokens.ids[low:high]
        able = np.zeros(len(ids), bool)
        for state, rest, begins, segment, before in place.ways:
            of_merges = spelling.first if before < 0 else spelling.merges.may_follow(before)
            able |= (spelling.allowed(state, rest, begins, segment) & of_merges)[ids]
        p = np.where(able, np.exp(log_rows[place.node].astype(np.float64)[ids]), 0.0)
        base, end = low, len(text) - place.at
        while depth < end and low < high:
            row, log_node = place.at + depth - first, log_nodes[place.node]
            longer = tokens.longer(depth, low, high)
            if longer < high:
                letters = tokens.letters[depth, longer:high]
                starts = np.flatnonzero(np.diff(letters, prepend=letters[0] ^ 1))
                if log_node > logs[row]:
                    sums[row] *= np.exp(logs[row] - log_node)
                    logs[row] = log_node
                of_bytes = np.add.reduceat(p[longer - base : high - base], starts)
                sums[row, letters[starts]] += np.exp(log_node - logs[row]) * of_bytes
            low, high = tokens.next(depth, low, high, text[place.at + depth])
            depth += 1
    return sums, logs
