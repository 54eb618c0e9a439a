"""Three ways to impose a rank on a head, and what each costs (Godey et al. 2024, section 5.1)."""
