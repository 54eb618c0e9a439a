"""Beam search, which compares whole texts: its code is in `oversmoothing.samples.beam`."""

from oversmoothing.scores.catalogue.decoders import Method, Parameter

METHOD = Method(None, (Parameter("width", 5, low=1, whole=True),))
