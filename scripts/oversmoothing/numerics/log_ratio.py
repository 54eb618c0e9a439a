"""How far a truth may lie above a model, as BAT supposes: the largest log ratio of their probabilities, in nats.

It stands apart from `bat`, which loads numba: a config is planned and arguments are parsed without it.
"""

import math

DELTA = math.log(1 / 0.8)  # thesis 4.1.6
LARGEST_DELTA = 20
