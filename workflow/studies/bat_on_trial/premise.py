"""How far BAT's premise is from true, and its reject sets where half of it is true (docs/bat.md).

The first half, W^T p = W^T q, is true of q*, the head's distribution nearest to the truth p with h free in all
dimensions. Its error at the model q is the smallest TV(t, q) over all distributions t with W^T t = W^T p.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.optimize import linprog
from scipy.special import log_softmax
from tqdm import tqdm

from oversmoothing.bat.basis import Basis, prepare
from oversmoothing.bat.linear_programs import TOLERANCE
from oversmoothing.bat.reject import RejectSet, reject_set
from oversmoothing.forced.head import Head
from oversmoothing.forced.head import prepare as prepare_family
from oversmoothing.forced.projection import project_on
from oversmoothing.jobs import Job, run
from oversmoothing.models.logit_files import read_logits
from oversmoothing.models.spectra import read_bias, read_head
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.files import NAME
from oversmoothing.scores.nucleus import nucleus
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

# Of HiGHS; presolving takes longer than it saves.
OPTIONS = {"presolve": False} | {f"{of}_feasibility_tolerance": TOLERANCE for of in ("primal", "dual")}
UNLIKELY = 1e-6  # probability below which the truth all but excludes a token
AT_NEAREST = "nearest_"  # begins the names of what is measured at q* and not at the model
TOP = "top_"  # begins those of a cut that accepts as many tokens as BAT, the most probable ones
OF_CUT = [
    ("rejected_nucleus", pa.int32()),  # rejected tokens of the truth's nucleus
    ("rejected_mass", pa.float64()),  # what the truth gives to these
    ("accepted_unlikely", pa.int32()),  # accepted tokens to which the truth gives less than `UNLIKELY`
]
OF_SETS = [
    ("exceeding", pa.int32()),  # tokens to which the truth gives more than q e^delta
    ("exceeding_nucleus", pa.int32()),  # those of its nucleus among them
    ("rejected", pa.int32()),  # tokens that BAT rejects
    *OF_CUT,
    *((TOP + name, kind) for name, kind in OF_CUT),
    ("undecided", pa.int32()),  # tokens that BAT neither rejects nor accepts
]
PREMISE = pa.schema(
    [
        *[("window", pa.int32()), ("position", pa.int32()), ("truth", NAME)],
        ("moment", pa.float64()),  # error of the first half at the model, in units of probability
        ("tv", pa.float64()),  # TV(p, q), which the error cannot exceed
        ("nucleus", pa.int32()),  # tokens of the truth's nucleus
        ("unlikely", pa.int32()),  # tokens to which the truth gives less than `UNLIKELY`
        *OF_SETS,
        *((AT_NEAREST + name, kind) for name, kind in OF_SETS),
        ("changed", pa.int32()),  # tokens that BAT rejects at one of the two and accepts at the other
    ]
)


def main(job: Job) -> None:
    """Read a model's head and logits and the truths' logits; write one row per position and truth."""
    settings, model = job.params.settings, job.wildcards.model
    weights = read_head(job.input.weights)
    basis, head = prepare(weights), prepare_family(weights, read_bias(job.input.weights))
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    use_threads(job.threads)
    with open_writer(job.output[0], PREMISE, provenance(settings, model=model)) as writer:
        for window in tqdm(read_logits(job.input.model, truths), desc=model, unit="window", disable=None):
            at = positions_of(len(window.model), settings["per_window"])
            chosen = {name: logits[at] for name, logits in window.truths.items()}
            for truth, columns in premise_by_truth(basis, head, window.model[at], chosen, settings).items():
                keys = {"window": np.full(len(at), window.window), "position": at, "truth": [truth] * len(at)}
                writer.write_table(pa.table(keys | columns).select(PREMISE.names).cast(PREMISE))


def moment_error(columns: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Smallest TV (n,) of each q and any distribution with p's moments, both (n, v); `columns` (v, m) span [W, 1]."""
    whole = abs(p - q).sum(axis=1) / 2
    if columns.shape[1] >= len(columns):
        return whole  # t = p is the only one
    return np.minimum([_least_moved(columns, *pair) for pair in zip(p, q, strict=True)], whole)


def _least_moved(columns: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
    """Minimise the sum of a over t = q + b - a with b >= 0 and 0 <= a <= q; the sum of b is the same."""
    v = len(q)
    solution = linprog(
        np.repeat([0.0, 1.0], v),
        A_eq=np.concatenate([columns.T, -columns.T], axis=1),
        b_eq=(p - q) @ columns,
        bounds=np.stack([np.zeros(2 * v), np.concatenate([np.full(v, np.inf), q])], axis=1),
        method="highs-ds",
        options=OPTIONS,
    )
    if solution.status != 0:
        raise RuntimeError(f"the moment's error was not found: {solution.message}")
    return max(float(solution.fun), 0.0)


def premise_by_truth(
    basis: Basis, head: Head, model: np.ndarray, truths: Mapping[str, np.ndarray], settings: Mapping[str, Any]
) -> dict[str, dict[str, np.ndarray]]:
    """Return the columns of `PREMISE` from ``moment`` on, (n,) each, by truth, from logits (n, v) and the same head."""
    log_q = log_softmax(model.astype(np.float64), axis=1)
    q = np.exp(log_q)
    delta, limits = settings["delta"], (settings["delta"], settings["mass_tolerance"])
    at_model = reject_set(basis, q, *limits)
    measured = {}
    for truth, logits in truths.items():
        p = np.exp(log_softmax(logits.astype(np.float64), axis=1))
        likely = nucleus(p, settings["tau"])
        at_nearest = reject_set(basis, np.exp(project_on(head, p, start=log_q).log_q), *limits)
        either = at_model.undecided | at_nearest.undecided
        measured[truth] = {
            "moment": moment_error(basis.columns, p, q),
            "tv": abs(p - q).sum(axis=1) / 2,
            "nucleus": likely.sum(axis=1),
            "unlikely": (p < UNLIKELY).sum(axis=1),
            **_of_sets(at_model, p, likely, delta),
            **{AT_NEAREST + name: count for name, count in _of_sets(at_nearest, p, likely, delta).items()},
            "changed": ((at_model.rejected != at_nearest.rejected) & ~either).sum(axis=1),
        }
    return measured


def _of_sets(sets: RejectSet, p: np.ndarray, likely: np.ndarray, delta: float) -> dict[str, np.ndarray]:
    """What `OF_SETS` lists, of the truth p (n, v) with the nucleus `likely` (n, v)."""
    exceeding = p > sets.p * np.exp(delta)
    accepted = ~sets.rejected & ~sets.undecided
    place = np.argsort(np.argsort(-sets.p, axis=1, kind="stable"), axis=1)
    top = place < accepted.sum(axis=1, keepdims=True)
    return {
        "exceeding": exceeding.sum(axis=1),
        "exceeding_nucleus": (exceeding & likely).sum(axis=1),
        "rejected": sets.rejected.sum(axis=1),
        **_of_cut(accepted, sets.rejected, p, likely),
        **{TOP + name: count for name, count in _of_cut(top, ~top, p, likely).items()},
        "undecided": sets.undecided.sum(axis=1),
    }


def _of_cut(accepted: np.ndarray, rejected: np.ndarray, p: np.ndarray, likely: np.ndarray) -> dict[str, np.ndarray]:
    lost = rejected & likely
    return {
        "rejected_nucleus": lost.sum(axis=1),
        "rejected_mass": np.where(lost, p, 0.0).sum(axis=1),
        "accepted_unlikely": (accepted & (p < UNLIKELY)).sum(axis=1),
    }


if __name__ == "__main__":
    run(main)
