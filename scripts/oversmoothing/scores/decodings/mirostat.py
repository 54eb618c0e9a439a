"""Mirostat, which needs the tokens drawn before: its code is in `oversmoothing.samples.mirostat`."""

from oversmoothing.scores.catalogue.decoders import Method, Parameter

METHOD = Method(None, (Parameter("tau", 3.0, above=True), Parameter("rate", 0.1, above=True)))
