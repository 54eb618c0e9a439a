"""Evidence for the claims, and against them (tests/claims/)."""

import pandas as pd

from oversmoothing.claims.measured import Measured, Rank


def of_trainings(end, falls=0.5, loss=2.6):
    """Two ranks with one block, whose last snapshot is `end`; three seeds."""
    series = {
        "loss": (5.0, 2.5, 2.5, loss),
        "singular_entropy": (1.0, 1.2, falls, end),
        "anisotropy": (0.1, 0.1, 0.2, end),
        "head_input_anisotropy": (0.1, 0.1, 0.1, end),
    }
    rows = [
        {"model": f"bn{rank}-s{seed}", "rank": rank, "seed": seed, "step": 10 * i, "measure": measure, "truth": None}
        | {"layer": 1 if measure == "anisotropy" else None, "value": value * (1 + seed / 1000 if i > 1 else 1)}
        for rank in (4, 288)
        for seed in (0, 1, 2)
        for measure, values in series.items()
        for i, value in enumerate(values if rank == 4 else (*values[:3], values[2]))
    ]
    return Measured({"along_training": pd.DataFrame(rows)}, [Rank(4, 4), Rank(288, 288)])


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "small-models-saturate": (of_trainings(0.5), of_trainings(0.5, loss=2.5)),
    "layers-are-anisotropic": (of_trainings(0.5), of_trainings(0.05)),
    "few-dimensions-end-anisotropic": (of_trainings(0.5), of_trainings(0.05)),
    "singular-entropy-falls": (of_trainings(0.5), of_trainings(1.19, falls=1.19)),
    "anisotropy-rises-where-it-saturates": (of_trainings(0.5), of_trainings(0.1)),
    "singular-entropy-jumps-where-it-saturates": (of_trainings(1.5), of_trainings(0.9)),
}
NO_EVIDENCE = [
    ("anisotropy-rises-where-it-saturates", of_trainings(0.5, loss=2.5), "no model saturates")
]  # and what the note says
