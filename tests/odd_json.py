"""JSON that is wrong in one place or a few, drawn from a seed."""

import copy

ODD = [None, True, "", "x", "../x", "a/b", "\0", [], {}, [None], [[1]], {"a": {"b": None}}]
ODD += [-1, 0, 1, 3, 2**31, 2**63, 10**30, 1.5, -0.5, 1e308, float("nan"), float("inf"), "9" * 5000]


def mutated(draw, value, times=1):
    """Return a copy of a JSON value in which a few places hold something odd, or nothing (`draw`: random.Random)."""
    value = copy.deepcopy(value)
    for _ in range(times):
        if draw.random() < 0.05:
            return draw.choice(ODD)
        places = list(_places(value))
        if not places:
            return value
        holder, key = draw.choice(places)
        if draw.random() < 0.2:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(draw.choice(ODD))
    return value


def _places(value):
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
