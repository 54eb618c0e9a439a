"""A law without a network: a Markov source of low rank, softmax(U_s V^T), with its entropy rate in closed form."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax


@dataclass(frozen=True)
class MarkovSource:
    """Symbols 0 ... v - 1; what follows symbol j depends on its state, j modulo the number of states."""

    log_p: np.ndarray  # (states, v)

    @property
    def states(self):
        return len(self.log_p)

    def stationary(self):
        """Share of time in each state: the left eigenvector of the transitions between states for the eigenvalue 1."""
        classes = np.arange(self.log_p.shape[1]) % self.states
        transitions = np.stack([np.bincount(classes, np.exp(row), self.states) for row in self.log_p])
        equations = np.vstack([transitions.T - np.eye(self.states), np.ones(self.states)])
        return np.linalg.lstsq(equations, np.append(np.zeros(self.states), 1.0), rcond=None)[0]

    def entropy_rate(self):
        """Mean entropy of the next symbol in nats."""
        return float(self.stationary() @ -(np.exp(self.log_p) * self.log_p).sum(axis=1))

    def draw(self, length, seed):
        """One sequence, int64 (length,), from state 0 on."""
        uniforms, cumulative = np.random.default_rng(seed).random(length), np.exp(self.log_p).cumsum(axis=1)
        symbols, state = np.empty(length, np.int64), 0
        for i, u in enumerate(uniforms):
            symbols[i] = min(np.searchsorted(cumulative[state], u, side="right"), cumulative.shape[1] - 1)
            state = symbols[i] % self.states
        return symbols


def markov_source(v, states, rank, entropy, seed):
    """Source whose logits have a rank, at the temperature at which its entropy rate is `entropy` nats."""
    draw = np.random.default_rng(seed)
    logits = draw.normal(size=(states, rank)) @ draw.normal(size=(rank, v))

    def at(log_temperature):
        return MarkovSource(log_softmax(logits * np.exp(-log_temperature), axis=1))

    return at(brentq(lambda t: at(t).entropy_rate() - entropy, -8, 8, xtol=1e-12))
