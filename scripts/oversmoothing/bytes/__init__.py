"""Oversmoothing and argmaxes byte by byte (thesis 4.3): sums per window, and the table of them."""
