"""The claims that all models oversmooth, above what chance in training shows, and by prompt (thesis 4.2)."""

from itertools import product

import numpy as np
import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less
from oversmoothing.claims.measured import Measured
from oversmoothing.claims.thesis import MAIN, MODERATE, score
from oversmoothing.scores.catalogue.metrics import METRICS
from studies.across_seeds.table import APART, FLOOR, LEAST, TTO, pseudo_values


def floor(m: Measured, metric: str) -> pd.Series:
    """Return the pseudo-values by seed of what full-rank models show against each other; their mean is the floor."""
    table = m.table("across_seeds")
    pairs = table[(table.measure == f"{metric}{FLOOR}") & table.model.notna()]
    scores = m.table("oversmoothing")
    full = scores[scores["rank"] == m.full().rank].drop_duplicates("model").set_index("model").seed.astype(int)
    names = [name for name in full.index if name in set(pairs.model)]
    if len(names) < LEAST:
        raise Missing(f"the floor takes {LEAST} seeds of {m.full()}, and there are {len(names)}")
    square = pairs.pivot_table(index="model", columns="truth", values="value").reindex(index=names, columns=names)
    return pd.Series(np.array(pseudo_values(square.to_numpy())), index=full[names].to_numpy())


def all_oversmooth(m: Measured) -> list[Contrast]:
    """Contrast every rank with what two full models of different seeds show against each other, under each metric."""
    return [
        less(f"{METRICS[metric].label}, {rank}", score(m, metric, rank), floor(m, metric))
        for metric, rank in product(MAIN, m.ranks())
    ]


def differ_by_prompt(m: Measured) -> list[Contrast]:
    """Contrast how far apart two ranks are at a byte with twice the difference of their means, from rank 16 on."""
    return [
        less(
            f"TTO at a byte, distance of {a} and {b}, less twice that of their means",
            m.values("across_seeds", f"{TTO}{APART}", rank=a.rank),
            2 * (score(m, TTO, a) - score(m, TTO, b)).abs(),
        )
        for a, b in m.steps(MODERATE)
    ]


CLAIMS = [
    Claim(
        "all-oversmooth",
        "4.2, Tables 4.1 and 4.2",
        "All models oversmooth under TTO, NSMD, TV and KL, including the full-rank one.",
        "Each rank less the floor, which is what full-rank models show with one that differs in nothing but its seed "
        "as the truth; paired by seed. Above 0 would be any model that is not the truth.",
        all_oversmooth,
        cannot_fail="a truth of another kind differs from every member by more than one member from the next",
    ),
    Claim(
        "depends-on-the-prompt",
        "4.2, Figure 4.1",
        "How much a model oversmooths depends on the prompt: ranks that are alike on average differ at single prompts.",
        "From rank 16 on: the mean distance between the TTO of a rank and of the next at a byte, less twice the "
        "difference of their means. What the prompt does and what chance does is not told apart.",
        differ_by_prompt,
        cannot_fail="two seeds of one rank differ so as well",
    ),
]
