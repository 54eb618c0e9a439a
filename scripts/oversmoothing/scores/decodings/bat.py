"""BAT sampling, which needs the model's head: its code is in `oversmoothing.samples.bat`."""

from oversmoothing.numerics.log_ratio import DELTA, LARGEST_DELTA
from oversmoothing.scores.catalogue.decoders import Method, Parameter

METHOD = Method(None, (Parameter("delta", DELTA, high=LARGEST_DELTA),))
