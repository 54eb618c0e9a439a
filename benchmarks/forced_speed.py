"""Time of the nearest distribution of a head, against SciPy's L-BFGS-B on the same positions.

    python benchmarks/forced_speed.py --tokens 256 --rank 16 --positions 200
    python benchmarks/forced_speed.py --tokens 49152 --rank 576
    python benchmarks/forced_speed.py --model FOLDER

Without a model, head and truth are random: the truth is that of a wider head. With one, a folder as `transformers`
reads it, its distributions q at positions of README.md are mixed with random tokens, p = (1 - l) q + l c, and both
begin at q. L-BFGS-B proves no gap; it ends at the first iterate that is within 1e-5 nats of the lower bound that ours
proves. Both take turns on one thread, over large vocabularies at each position. Over small vocabularies the time behind
a LayerNorm is printed too, and at how many positions its minimum is proved. `--keep` writes what docs/forced.md quotes.
"""

import argparse
from functools import partial
from pathlib import Path

import measuring
import numpy as np
from keep_study import machine
from keeping import keep
from scipy.optimize import OptimizeResult, minimize
from scipy.special import log_softmax, logsumexp

from oversmoothing.forced.ellipsoid import project_on_ellipsoid
from oversmoothing.forced.head import Head, prepare
from oversmoothing.forced.projection import LARGEST_DENSE, project_on

TEXT = measuring.ROOT / "README.md"
LONGEST = 256  # tokens of the text
NEAR = 1e-5  # nats above the proved lower bound at which L-BFGS-B ends


def main() -> None:
    """Print the processor time per position of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=49_152)
    parser.add_argument("--rank", type=int, default=576)
    parser.add_argument("--positions", type=int, default=4)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--keep", action="store_true", help="in resources/benchmarks")
    given = parser.parse_args()
    if given.model:
        weights, p, start = mixtures(given.model, given.positions)
    else:
        weights, p = draw(given.tokens, given.rank, given.positions)
        start = np.log(p)
    v, rank = weights.shape
    head, preparing = measuring.timed(lambda: prepare(weights))
    size = 1 if v * rank**2 > LARGEST_DENSE else len(p)  # small heads are projected on many positions at a time
    ours, theirs, gaps, shares, above = 0.0, 0.0, [], [], []
    for i in range(0, len(p), size):
        some = slice(i, i + size)
        nearest, seconds = measuring.timed(partial(project_on, head, p[some], start[some]))
        ours += seconds
        gaps += nearest.gap.tolist()
        shares += (nearest.gap / np.maximum(nearest.forced, 1e-300)).tolist()
        for row, first, bound in zip(p[some], start[some], nearest.forced - nearest.gap, strict=True):
            reached, seconds = measuring.timed(partial(lbfgs, head, row, first, bound + NEAR))
            theirs += seconds
            above.append(reached - bound)
    print(machine())
    print(f"{v} tokens, rank {rank}, {len(p)} positions; head prepared in {preparing:.2f} s")
    ours, theirs = 1e3 * ours / len(p), 1e3 * theirs / len(p)
    print(f"ours      {ours:9.2f} ms a position; largest gap {max(gaps):.1e}, {max(shares):.1e} of KL")
    print(f"L-BFGS-B  {theirs:9.2f} ms a position, {theirs / ours:.1f} times ours; above the bound {max(above):.1e}")
    if given.keep:
        case = f"{'model' if given.model else 'random'}, {v} tokens, rank {rank}"
        speeds = {"ours": (ours, "ms"), "l-bfgs-b": (theirs, "ms"), "gap": (max(gaps), "nats")}
        keep("forced_speed", case, speeds | {"positions": (len(p), "positions")})
    if v * rank**2 <= LARGEST_DENSE:
        behind, norm = measuring.timed(lambda: project_on_ellipsoid(weights, np.ones(rank), p))
        proved = int((behind.gap <= 1e-9).sum())
        print(f"LayerNorm {1e3 * norm / len(p):9.2f} ms a position; proved to 1e-9 nats at {proved} of {len(p)}")


def mixtures(folder: Path, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a model's head (v, r), mixtures (n, v) of its distributions with tokens, and log-probabilities (n, v)."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = AutoTokenizer.from_pretrained(folder)(TEXT.read_text(encoding="utf-8"))["input_ids"][:LONGEST]
    with torch.inference_mode():
        hidden = model.model(torch.tensor([ids])).last_hidden_state[0].double().numpy()
    weights = model.lm_head.weight.detach().double().numpy()
    chosen = np.linspace(len(ids) // 8, len(ids) - 1, n).astype(int)
    log_q = log_softmax(hidden[chosen] @ weights.T, axis=1)
    draws, p = np.random.default_rng(0), np.empty_like(log_q)
    for row, logs, share in zip(p, log_q, np.geomspace(0.02, 0.3, n), strict=True):
        tokens = draws.choice(np.argsort(-logs)[:3000], 40, replace=False)
        row[:] = (1 - share) * np.exp(logs)
        row[tokens] += share * draws.dirichlet(np.full(40, 0.5))
    return weights, p, log_q


def draw(v: int, r: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return weights (v, r) with a decaying spectrum, and truths (n, v) of a head twice as wide."""
    draws = np.random.default_rng(0)
    wide = draws.normal(size=(v, 2 * r)) * np.tile(np.arange(1, r + 1) ** -0.4, 2)
    wide[:, 0] = -0.8 * np.log(np.arange(1, v + 1))
    hidden = draws.normal(size=(n, 2 * r)) * draws.uniform(0.5, 2, size=(n, 1))
    hidden[:, 0] = 1
    return wide[:, :r], np.exp(log_softmax(hidden @ wide.T, axis=1))


def lbfgs(head: Head, p: np.ndarray, start: np.ndarray, enough: float) -> float:
    """Return the divergence at which L-BFGS-B first is at most `enough`, or where it ends, in nats."""
    moments, entropy = p @ head.columns, float(p @ np.log(p))

    def divergence(theta: np.ndarray) -> tuple[float, np.ndarray]:
        z = head.columns @ theta
        total = float(logsumexp(z))
        return total - float(moments @ theta) + entropy, np.exp(z - total) @ head.columns - moments

    def ended(intermediate_result: OptimizeResult) -> None:
        if intermediate_result.fun <= enough:
            raise StopIteration

    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9}
    first = head.coordinates(start[None])[0]
    return float(minimize(divergence, first, jac=True, method="L-BFGS-B", callback=ended, options=options).fun)


if __name__ == "__main__":
    main()
