"""TBAT of every scored byte of one model under every decoding, streamed window by window."""

import logging

from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.decoding import decoder, decoding_name
from oversmoothing.scores.files import ScoreRows
from oversmoothing.scores.tbat import TBAT_SCORES, choose_basis, read_states, tbat
from oversmoothing.store.parquet import open_reader, open_writer
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read a model's head, logits and, behind a LayerNorm, hidden states; write its TBAT scores."""
    settings, model = job.params.settings, job.wildcards.model
    basis = choose_basis(job.input.weights, settings["condition"])
    decoders = {decoding_name(entry): decoder(entry) for entry in settings["decodings"]}
    logger.info("%d constraints on %d tokens, %d threads", *basis.columns.shape[::-1], use_threads(job.threads))
    with open_reader(job.input.logits) as reader:
        count = reader.num_row_groups
    undecided, among = 0, set(positions_of(count, settings["windows"]).tolist())
    with open_writer(job.output[0], TBAT_SCORES, provenance(settings, model=model, unit="probability")) as writer:
        rows = ScoreRows(writer, TBAT_SCORES)
        states = read_states(job.input.logits, job.input.get("hidden"))
        for i, (window, p, post) in enumerate(tqdm(states, desc=model, total=count, unit="window", disable=None)):
            if i not in among:
                continue
            where, at = f"{model}, window {window}", positions_of(len(p), settings["per_window"])
            for decoding, decode in decoders.items():
                entered = None if post is None else post[at]
                score = tbat(basis, decode(p[at]), settings["delta"], settings["mass_tolerance"], where, entered)
                rows.add(window, None, decoding, score.value, score.low, score.high, score.undecided, positions=at)
                undecided += int(score.undecided.sum())
        rows.flush()
    logger.info("%d tokens undecided", undecided)


if __name__ == "__main__":
    run(main)
