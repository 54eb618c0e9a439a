"""Published models, revision by revision: spectrum of the head, anisotropy and loss (Godey et al. 2024)."""
