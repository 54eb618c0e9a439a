"""BAT sampling, which needs the model's head: its code is in `oversmoothing.bat.decoding`."""

from oversmoothing.catalogue.decoders import DELTA, LARGEST_DELTA, Method, Parameter

METHOD = Method(None, (Parameter("delta", DELTA, high=LARGEST_DELTA),))
