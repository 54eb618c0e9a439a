"""Scores: distributions, decodings, metrics and the files they are kept in."""
