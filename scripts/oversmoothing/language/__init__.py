"""Dimensions of a language: n-gram matrices of a text and their singular values (Godey et al. 2024)."""
