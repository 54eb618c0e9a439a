"""BAT-reject sets: the tokens to which a truth may give no mass, for all that a model's head can tell.

It imports nothing of the rest but `compiled`, `distributions` and `layer_norm`.
"""

import math

DELTA = math.log(1 / 0.8)  # largest log ratio of the truth to the model, in nats (thesis 4.1.6)
LARGEST_DELTA = 20
