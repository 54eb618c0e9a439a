"""What docs/findings.md quotes of its table, without intervals."""

from kept_runs import Kept


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    row = {"text": "train", "token": "byte pair", "context": 4, "measure": "w_error"}
    lost = [Kept("default").cell("language_dimensionality", dimensions=d, **row) for d in (288, 1000)]
    yield "docs/findings.md", "288 dimensions lose {:.2f} of the training text and 1,000 lose {:.2f}", lost
