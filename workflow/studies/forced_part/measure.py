"""What the head of one model forces of its distance from each truth, and what is left, streamed window by window."""

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.forced.division import divide
from oversmoothing.forced.ellipsoid import BehindNorm
from oversmoothing.forced.face import YES, faces
from oversmoothing.forced.head import Head
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import read_logits
from oversmoothing.numerics.distributions import distributions
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.files import NAME
from oversmoothing.scores.nucleus import nucleus
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

NATS, SHARES = ("kl", "forced", "rest", "gap"), ("tto", "tv", "nearest_tto", "nearest_tv")
FORCED_SCORES = pa.schema(  # README.md says what each column is
    [
        *[("window", pa.int32()), ("position", pa.int32()), ("truth", NAME)],
        *((name, pa.float64()) for name in NATS),
        *((name, pa.float32()) for name in SHARES),
        *[("face", pa.int8()), ("norm_forced", pa.float64())],
    ]
)


def main(job: Job) -> None:
    """Read a model's head and the logits of the model and of the truths; write a row per position and truth."""
    settings, model = job.params.settings, job.wildcards.model
    model_head = read_model_head(job.input.weights, settings["rank"])
    head, per_window = model_head.prepared(), settings["norm_per_window"]
    normed = None
    if per_window is not None and model_head.gain is not None and not head.full:
        normed = BehindNorm(model_head.weights, model_head.gain, model_head.bias, centres=True)
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    with open_writer(job.output[0], FORCED_SCORES, provenance(settings, model=model)) as writer:
        for window in tqdm(read_logits(job.input.model, truths), desc=model, unit="window", disable=None):
            at = positions_of(len(window.model), settings["per_window"])
            for truth, logits in window.truths.items():
                p = softmax(logits[at].astype(np.float64))
                try:
                    scores = score(head, normed, window.model[at], p, settings["tau"], per_window)
                except ValueError as error:
                    raise UserError(f"{job.input.model}: {error}") from error
                keys = {"window": np.full(len(at), window.window), "position": at, "truth": [truth] * len(at)}
                columns = {name: pa.array(values, from_pandas=True) for name, values in (keys | scores).items()}
                writer.write_table(pa.table(columns).select(FORCED_SCORES.names).cast(FORCED_SCORES))


def score(
    head: Head, normed: BehindNorm | None, logits: np.ndarray, truth: np.ndarray, tau: float, norm_positions: int
) -> dict[str, np.ndarray]:
    """Split the distance of a model from a truth at n positions into what its head forces and the rest.

    `logits` are the model's and `truth` has distributions, (n, v); `tau` is the mass of the truth's nucleus. With the
    head behind its norm, `normed`, what both force together is computed at so many positions as `norm_positions` says,
    evenly spaced. The arrays, (n,), are named as in `FORCED_SCORES`. Errors are those of `forced.division.on_family`.
    """
    log_q, nearest, rest = divide(head, logits, truth)
    tto, tv = _tto_and_tv(log_q, truth, tau)
    together = np.full(len(truth), np.nan)
    if head.full:  # q* is the truth
        nearest_tto = nearest_tv = np.zeros(len(truth))
        face = np.full(len(truth), YES, np.int8)
    else:
        nearest_tto, nearest_tv = _tto_and_tv(nearest.log_q, truth, tau)
        face = faces(head.columns, nucleus(truth, tau))
        if normed is not None:
            at = positions_of(len(truth), norm_positions)
            on_ellipsoid = normed.project(distributions(truth[at], truth.shape[1]), log_q[at])
            together[at] = np.maximum(on_ellipsoid.forced, nearest.forced[at])  # up to rounding
    forced = nearest.forced
    scores = {"kl": forced + rest, "forced": forced, "rest": rest, "gap": nearest.gap, "tto": tto, "tv": tv}
    return scores | {"nearest_tto": nearest_tto, "nearest_tv": nearest_tv, "face": face, "norm_forced": together}


def _tto_and_tv(log_q: np.ndarray, truth: np.ndarray, tau: float) -> np.ndarray:
    more = np.maximum(np.exp(log_q) - truth, 0)
    return np.stack([(more * ~nucleus(truth, tau)).sum(axis=1), more.sum(axis=1)])


if __name__ == "__main__":
    run(main)
