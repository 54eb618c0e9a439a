"""Models: their shapes and weights, those of others, and what is computed with them."""
