"""A model beside each truth at every position: KL, the most probable token, and the probability of the true one."""

from pathlib import Path

from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.models.logit_files import read_logits
from oversmoothing.scores.side_by_side import ROWS, rows_of, side_by_side
from oversmoothing.store.parquet import open_writer, read_groups
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read the logits of a model and of the truths; write a row for each position and truth, window by window."""
    settings, name = job.params.settings, job.wildcards.model
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    with open_writer(job.output[0], ROWS, provenance(settings, model=name)) as writer:
        windows = zip(read_logits(job.input.model, truths), read_groups(job.input.model, ["target"]), strict=True)
        for window, group in tqdm(windows, desc=Path(job.input.model).stem, unit="window", disable=None):
            targets = group["target"].to_numpy()
            for truth, logits in window.truths.items():
                writer.write_batch(rows_of(window.window, truth, side_by_side(window.model, logits, targets)))


if __name__ == "__main__":
    run(main)
