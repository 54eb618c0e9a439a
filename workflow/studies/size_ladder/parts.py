"""What is measured of a model of the ladder, without PyTorch."""

LOSS, EFFECTIVE_RANK = "loss", "effective_rank"
THERE = "kl_there"  # KL at the positions where parts of it are measured
FREE, BEHIND_NORM = "free", "behind_norm"  # parts of it: forced by the head alone, and behind its LayerNorm
OWN = "own"  # the truth of a model's own size and number of steps; each has another


def reported(window: int) -> bool:
    """Return whether parts are measured on the i-th window: every other one; best heads are fitted to the others."""
    return window % 2 == 1
