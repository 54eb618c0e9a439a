"""Dynamics of training: head, hidden states and distributions of each snapshot (Godey et al. 2024)."""
