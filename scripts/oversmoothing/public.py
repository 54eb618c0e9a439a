"""What `import oversmoothing` offers beside its packages; docs/tokens.md describes it."""

from oversmoothing.comparison.compare import compare

__all__ = ["compare"]
