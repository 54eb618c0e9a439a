"""The decoding methods, one module each, found by name: adding a module adds a method, and redoes nothing.

Thesis 6.1 compares pure sampling with greedy, top-k (k = 5), top-p (p = 0.9) and temperature (0.8), which are the
defaults here. Every function takes probabilities of shape (n, v), one distribution per row, and returns the same shape
and dtype without changing its input. The functions are written against the array API, so they serve both NumPy arrays
(scoring) and torch tensors on any device (sampling); nothing here imports torch. They run at every step of generation
and therefore trust their input; `oversmoothing.scores.metrics` checks it.

Ties are broken by token id, lowest first, so that the same logits always keep the same tokens. In time, min-p, epsilon
and p-less are about greedy, eta and top-n-sigma about temperature; typical, top-h and min-k sort every row.

Several methods may be applied one behind another (`oversmoothing.scores.decoding`), so every method takes rows in which
others have left zeros.
"""
