"""How often a truth would accept the token that a model drafts, in speculative sampling.

The model drafts a token x from its distribution q, the truth accepts it with probability min(1, p(x) / q(x)), and what
is written follows p exactly. So the acceptance rate at a position is sum_i min(p_i, q_i), 1 less the total variation
between p and q. Both are decoded in the same way: that is what p and q are.

References
----------
Y. Leviathan, M. Kalman, Y. Matias, "Fast Inference from Transformers via Speculative Decoding", ICML 2023, section 3.
"""

import numpy as np
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.models.window_logits import read_logits
from oversmoothing.scores.decoding import decoder, decoding_name
from oversmoothing.scores.files import SCORES, ScoreRows
from oversmoothing.scores.probabilities import Decoder, softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read the logits of a model and of the truths; write the acceptance rate at every position."""
    settings, model = job.params.settings, job.wildcards.model
    decoders = {decoding_name(entry): decoder(entry) for entry in settings["decodings"]}
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    with open_writer(job.output[0], SCORES, provenance(settings, model=model)) as writer:
        rows = ScoreRows(writer)
        for window in tqdm(read_logits(job.input.model, truths), desc=model, unit="window", disable=None):
            draft = softmax(window.model)
            for truth, logits in window.truths.items():
                p = softmax(logits)
                for decoding, decode in decoders.items():
                    rows.add(window.window, truth, decoding, acceptance(draft, p, decode))
        rows.flush()


def acceptance(draft: np.ndarray, truth: np.ndarray, decode: Decoder) -> np.ndarray:
    """Probability (n,) that a truth accepts a drafted token, of distributions (n, v) that `decode` is yet to change.

    Under greedy decoding it is 1 where both have the same most probable token.
    """
    return np.minimum(decode(draft), decode(truth)).sum(axis=1, dtype=np.float64)


if __name__ == "__main__":
    run(main)
