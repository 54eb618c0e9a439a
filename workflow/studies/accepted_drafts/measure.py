"""How often a truth would accept the token that a model drafts, in speculative sampling.

The model drafts a token x from its distribution q, the truth accepts it with probability min(1, p(x) / q(x)), and what
is written follows p exactly. So the acceptance rate at a position is sum_i min(p_i, q_i), 1 less the total variation
between p and q. Both are decoded in the same way: that is what p and q are.

References
----------
Y. Leviathan, M. Kalman, Y. Matias, "Fast Inference from Transformers via Speculative Decoding", ICML 2023, section 3.
"""

from collections.abc import Mapping

import numpy as np
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.models.window_logits import WindowLogits, read_logits
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.files import SCORES, ScoreRows
from oversmoothing.scores.probabilities import Decoder, softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read the logits of a model and of the truths; write the acceptance rate at every position."""
    settings, model = job.params.settings, job.wildcards.model
    decoders = {entry["name"]: decoder(entry) for entry in settings["decodings"]}
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    with open_writer(job.output[0], SCORES, provenance(settings, model=model)) as writer:
        rows = ScoreRows(writer)
        for window in tqdm(read_logits(job.input.model, truths), desc=model, unit="window", disable=None):
            for truth, by_decoding in accepted(window, decoders).items():
                for decoding, values in by_decoding.items():
                    rows.add(window.window, truth, decoding, values)
        rows.flush()


def acceptance(draft: np.ndarray, truth: np.ndarray, decoding: Decoder) -> np.ndarray:
    """Probability that a truth accepts a drafted token, both decoded in the same way.

    Parameters
    ----------
    draft, truth : float array, shape (n, v)
        Distributions of the model and of the truth before decoding, of one dtype.
    decoding : callable
        Maps distributions to distributions, as returned by `oversmoothing.scores.decoding.decoder`.

    Returns
    -------
    float array, shape (n,)
        Probability, 0 to 1. Under greedy decoding, 1 where both have the same most probable token.
    """
    return np.minimum(decoding(draft), decoding(truth)).sum(axis=1, dtype=np.float64)


def accepted(window: WindowLogits, decoders: Mapping[str, Decoder]) -> dict[str, dict[str, np.ndarray]]:
    """Return the acceptance rates of one window as ``[truth][decoding]``, float32 arrays of shape (s,)."""
    draft = softmax(window.model)
    truths = {name: softmax(logits) for name, logits in window.truths.items()}
    return {
        truth: {name: acceptance(draft, p, decoding) for name, decoding in decoders.items()}
        for truth, p in truths.items()
    }


if __name__ == "__main__":
    run(main)
