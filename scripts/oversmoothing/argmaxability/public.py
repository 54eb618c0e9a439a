"""What `from oversmoothing import argmaxability` offers; docs/api.md describes it. Steps import the modules instead."""

from oversmoothing.argmaxability.classes import argmaxable, reachable
from oversmoothing.argmaxability.proofs import check
from oversmoothing.argmaxability.result import Argmaxability, Combination

__all__ = ["argmaxable", "reachable", "check", "Argmaxability", "Combination"]  # noqa: RUF022 (the page's order)
