# For type checkers alone, and so no part of fingerprints: names of `public`, which `__init__.py` finds when needed.
from oversmoothing.public import *  # noqa: F403
