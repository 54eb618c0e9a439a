"""Scores of one model against every truth under every decoding, streamed window by window."""

import logging
from contextlib import ExitStack
from pathlib import Path

from tqdm import tqdm

from oversmoothing.jobs import Job, import_by_name, run
from oversmoothing.models.logit_files import read_logits
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.scores.decoding import decoder, decoding_name
from oversmoothing.scores.files import SCORES, ScoreRows
from oversmoothing.scores.metrics import score_window
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the logits of a model and of the truths; write one file per metric.

    Over tokens, with `params.device`, distributions are compared on a GPU where there is one. The code for that is
    imported by name, because the fingerprint of a script would follow it to PyTorch, which scores of bytes do without.
    """
    settings = job.params.settings
    metrics = list(job.output.keys())
    decoders = {decoding_name(entry): decoder(entry) for entry in settings["decodings"]}
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    made_by = provenance(settings, model=job.wildcards.model)
    device = job.params.device
    place = None if device == "cpu" else import_by_name("oversmoothing.models.on_gpu").to_gpu(device)
    with ExitStack() as files:
        writers = {}
        for metric in metrics:
            of_metric = made_by | {"unit": METRICS[metric].unit}
            writers[metric] = ScoreRows(files.enter_context(open_writer(job.output[metric], SCORES, of_metric)))
        windows = read_logits(job.input.model, truths)
        for window in tqdm(windows, desc=Path(job.input.model).stem, unit="window", disable=None):
            for truth, values in score_window(window, decoders, metrics, settings["tau"], place).items():
                for metric, by_decoding in values.items():
                    for decoding, scores in by_decoding.items():
                        writers[metric].add(window.window, truth, decoding, scores)
        for rows in writers.values():
            rows.flush()


if __name__ == "__main__":
    run(main)
