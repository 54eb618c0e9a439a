"""Scores of one model against every truth under every decoding, streamed window by window."""

import logging
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from oversmoothing.decoding import decoder
from oversmoothing.jobs import run
from oversmoothing.scores import SCORES, ScoreRows, read_logits, score_window
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    import torch
    from snakemake.iocontainers import Snakemake

logger = logging.getLogger(__name__)


def main(job: "Snakemake") -> None:
    """Read the logits of a model and of the truths; write one file per metric.

    With `params.device`, as over tokens, distributions are compared on a GPU where there is one.
    """
    settings, device = job.params.settings, _gpu(getattr(job.params, "device", "cpu"))
    metrics = list(job.output.keys())
    decoders = {entry["name"]: decoder(entry) for entry in settings["decodings"]}
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    made_by = provenance(settings, model=job.wildcards.model)
    with ExitStack() as files:
        writers = {
            metric: ScoreRows(files.enter_context(open_writer(job.output[metric], SCORES, made_by)))
            for metric in metrics
        }
        windows = read_logits(job.input.model, truths)
        for window in tqdm(windows, desc=Path(job.input.model).stem, unit="window", disable=None):
            found = score_window(window, decoders, metrics, settings["tau"], device)
            for truth, values in found.items():
                for metric, by_decoding in values.items():
                    for decoding, scores in by_decoding.items():
                        writers[metric].add(window.window, truth, decoding, scores)
        for rows in writers.values():
            rows.flush()


def _gpu(name: str) -> "torch.device | None":
    """Return the GPU for the setting `device`, if there is one; on a processor NumPy is faster than PyTorch."""
    if name == "cpu":
        return None
    from oversmoothing.device import choose_device  # imports PyTorch, which bytes do without

    device = choose_device(name)
    return None if device.type == "cpu" else device


if __name__ == "__main__":
    run(main)
