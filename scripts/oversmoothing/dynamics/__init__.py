"""Along training: what each snapshot's head, hidden states and distributions are like (Godey et al. 2024)."""
