"""What is measured of heads over a vocabulary, by name in tables, without NumPy."""

TARGETS = (0.1, 0.01, 0.001)  # nats a token
BEST, FITTED, OTHER, TRAINED, KL = "best", "fitted", "other_start", "trained", "kl"
NEEDED = {  # measures of the rank that forces less than a target, by the curve of forced nats that it is read from
    BEST: "needed",
    FITTED: "needed_where_fitted",
    TRAINED: "needed_of_trained",
}
GROWING = (BEST, FITTED)  # curves of which the growth is told
ADDED = "added"
OF_ADDED = {"best_of_added": BEST, "trained_of_added": TRAINED}
GROWTH = "growth"
GAP = "gap"


def needed(curve: str, nats: float) -> str:
    """Return the measure of the rank that forces less than so many nats, by a curve."""
    return f"{NEEDED[curve]}_{nats:g}"


def growth(nats: float, curve: str = BEST) -> str:
    """Return the measure of the power of the vocabulary with which that rank grows."""
    return f"{GROWTH}_{nats:g}" if curve == BEST else f"{GROWTH}_where_fitted_{nats:g}"
