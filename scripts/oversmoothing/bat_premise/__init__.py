"""Whether what BAT assumes of the truth is true at a model, and what its sets are where it is."""
