"""How far a model is from a truth on a text, and how much of that its head forces whatever enters it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from oversmoothing.commands.one_head.text import Passage, entering, owners
from oversmoothing.forced.large import NEGLIGIBLE, SHARE
from oversmoothing.measures.nearest import nearest, whole
from oversmoothing.measures.summaries import RESAMPLES, SEED
from oversmoothing.models.heads import ModelHead
from oversmoothing.models.truths.token_model import TokenModel
from oversmoothing.numerics.distributions import distributions
from oversmoothing.numerics.statistics import LEVEL, draw_windows


@torch.inference_mode()
def distributions_at(
    model: TokenModel, passages: Sequence[Passage], positions: np.ndarray, precision: str
) -> np.ndarray:
    """Return a model's distributions, float64 (n, v), at n of the measured positions of passages."""
    kept, owner = [], owners(passages)
    first = 0
    for i, entered in enumerate(entering(model, passages, precision, "truth")):
        wanted = positions[owner[positions] == i] - first
        kept.append(model.logits(entered[wanted]).double().softmax(dim=-1).cpu().numpy())
        first += len(entered)
    return np.concatenate(kept)


def forced(head: ModelHead | None, p: np.ndarray, log_q: np.ndarray, passage: np.ndarray) -> dict[str, Any]:
    """Return the numbers of ``forced`` in `schemas.head.SCHEMA`.

    Without a `head`, as where logits are capped, only KL is known. Rows of `p` and `log_q`, float64 (n, v), are the
    truth's distributions and the model's log-probabilities.
    """
    p = distributions(p, log_q.shape[1])
    found: dict[str, Any] = {"positions": len(p), "passages": len(np.unique(passage))}
    kl = whole(p, log_q)
    if head is None:
        found |= {"kl": _intervals(kl, kl, passage)["kl"]}
        return found | dict.fromkeys(("forced", "share", "gap", "proved"))
    rows = tqdm(range(len(p)), desc="forced", unit="position", leave=False, disable=None)
    found_at = [nearest(head, p[i : i + 1], log_q[i : i + 1], certified=True) for i in rows]
    least, gap = (np.concatenate([getattr(point, name) for point in found_at]) for name in ("forced", "gap"))
    return {
        **found,
        **_intervals(kl, least, passage),
        "gap": float(gap.max()),
        "proved": int((gap <= np.maximum(SHARE * least, NEGLIGIBLE)).sum()),
    }


def _intervals(kl: np.ndarray, least: np.ndarray, passage: np.ndarray) -> dict[str, Any]:
    """Return means of both (n,) and their ratio, None if `kl` is 0, each with its interval over passages."""
    count, whole, part = (np.bincount(passage, values)[np.unique(passage)] for values in (np.ones_like(kl), kl, least))
    draws = np.concatenate([[np.arange(len(count))], *draw_windows(len(count), RESAMPLES, SEED)])
    n, all_of_it, some = (sums[draws].sum(axis=1) for sums in (count, whole, part))
    drawn = {"kl": all_of_it / n, "forced": some / n}
    means: dict[str, Any] = {"share": None}
    if whole.sum() > NEGLIGIBLE * count.sum():  # a share of a rounding error says nothing
        drawn["share"] = some / all_of_it
    for name, values in drawn.items():
        low, high = (None, None) if len(count) < 2 else np.quantile(values[1:], [LEVEL, 1 - LEVEL]).tolist()
        means[name] = {"mean": float(values[0]), "low": low, "high": high}
    return means
