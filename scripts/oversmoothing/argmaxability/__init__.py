"""Which classes a head can make the most probable, with a proof for each."""

from oversmoothing.argmaxability.classes import argmaxable, reachable
from oversmoothing.argmaxability.proofs import check
from oversmoothing.argmaxability.result import Argmaxability, Combination

__all__ = ["argmaxable", "reachable", "check", "Argmaxability", "Combination"]  # noqa: RUF022 (the order of docs/api.md)
