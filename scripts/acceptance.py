"""How often each truth would accept the tokens that one model drafts, under every decoding, window by window."""

from pathlib import Path

from tqdm import tqdm

from oversmoothing.acceptance import accepted
from oversmoothing.decoding import decoder
from oversmoothing.jobs import Job, run
from oversmoothing.score_files import SCORES, ScoreRows
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance
from oversmoothing.window_logits import read_logits


def main(job: Job) -> None:
    """Read the logits of a model and of the truths; write the acceptance rate at every position."""
    settings = job.params.settings
    decoders = {entry["name"]: decoder(entry) for entry in settings["decodings"]}
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    with open_writer(job.output[0], SCORES, provenance(settings, model=job.wildcards.model)) as writer:
        rows = ScoreRows(writer)
        windows = read_logits(job.input.model, truths)
        for window in tqdm(windows, desc=Path(job.input.model).stem, unit="window", disable=None):
            for truth, by_decoding in accepted(window, decoders).items():
                for decoding, values in by_decoding.items():
                    rows.add(window.window, truth, decoding, values)
        rows.flush()


if __name__ == "__main__":
    run(main)
