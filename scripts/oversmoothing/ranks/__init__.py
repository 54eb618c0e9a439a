"""Effective rank of a model's representations: sampled rows, their singular values, Table 7.3."""
