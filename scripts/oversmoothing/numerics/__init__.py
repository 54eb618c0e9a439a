"""Array code that the three libraries and the rooms share: compiled loops, exact sums, statistics."""
