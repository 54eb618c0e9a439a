"""Linear programs that say which classes lead, and checks of what proves it."""

import dataclasses

import numpy as np
from scipy.optimize import linprog

from oversmoothing.argmaxability.classes import argmaxable
from oversmoothing.argmaxability.proofs import check


def rng(*seed):
    return np.random.default_rng(seed)


def radii(weights, bias=None, box=100, most=1e3):
    """Radius, at most `most`, of the largest ball in each class's cell, its centre in the box, by linear programs.

    Maximise r with (w_j - w_c) x + |w_j - w_c| r <= b_c - b_j; a class with a radius above 0 is argmaxable.
    """
    v, d = weights.shape
    bias = np.zeros(v) if bias is None else bias
    largest = np.empty(v)
    for c in range(v):
        differences = np.delete(weights, c, axis=0) - weights[c]
        solution = linprog(
            np.append(np.zeros(d), -1.0),
            A_ub=np.column_stack((differences, np.linalg.norm(differences, axis=1))),
            b_ub=bias[c] - np.delete(bias, c),
            bounds=[(-box, box)] * d + [(None, most)],
            method="highs",
        )
        largest[c] = -solution.fun if solution.status == 0 else np.nan
    return largest


def by_linear_programs(weights, bias=None):
    """Whether each class is argmaxable, bool (v,); of equal rows only one with a higher bias than the others is."""
    ahead = np.zeros(len(weights)) if bias is None else bias
    equal = (weights[:, None] == weights).all(axis=2) & ~np.eye(len(weights), dtype=bool)
    return (radii(weights, bias) > 1e-6) & ~(equal & (ahead >= ahead[:, None])).any(axis=1)


def decided(weights, bias=None, **options):
    """Whether each class is argmaxable, as `argmaxable` decides, with all certificates checked exactly."""
    result = argmaxable(weights, bias, **options)
    check(weights, bias, result)
    return result.argmaxable


def check_some(weights, bias, result, some):
    """Check the certificates of some classes in rational arithmetic."""
    status = np.where(np.isin(np.arange(len(weights)), some), result.status, "undecided")
    check(weights, bias, dataclasses.replace(result, status=status))
