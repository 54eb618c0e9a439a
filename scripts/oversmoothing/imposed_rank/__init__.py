"""Three ways to impose a rank on a head, and the cost of each (Godey et al. 2024, section 5.1)."""
