"""Saturation: a law of losses fitted to training histories, and where each model leaves it (Godey et al. 2024)."""
