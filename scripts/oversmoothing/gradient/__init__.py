"""Expressivity or optimisation: one rank imposed on the logits, on the gradient, or on both (Murugan 2026)."""
