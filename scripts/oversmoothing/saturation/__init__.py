"""Saturation: a law of losses fitted to training histories, and where models depart from it (Godey et al. 2024)."""
