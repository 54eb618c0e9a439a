"""Run one model over all windows, once: its logits and hidden states."""

import logging
from typing import TYPE_CHECKING

from tqdm import tqdm

from oversmoothing.device import choose_device, choose_precision, make_deterministic
from oversmoothing.inference import run_windows
from oversmoothing.jobs import UserError, run
from oversmoothing.logits import hidden_schema, logits_schema
from oversmoothing.store.parquet import open_writer, read_table
from oversmoothing.store.provenance import provenance
from oversmoothing.weights import load_model

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

logger = logging.getLogger(__name__)


def main(job: "Snakemake") -> None:
    """Read weights and windows; write logits and hidden states, one row group per window."""
    settings = job.params.settings
    device = choose_device(job.params.device)
    precision = choose_precision(settings["precision"], device)
    make_deterministic(device, settings["threads"])
    model = load_model(job.input.weights, device, job.params.shape)
    windows = read_table(job.input.windows, ["window", "prompt", "scored"])
    name, config = job.wildcards.model, model.config
    longest = max(len(row["prompt"] + row["scored"]) for row in windows.to_pylist())
    if longest - 1 > config.block:  # the last byte is scored, and not read
        raise UserError(
            f"{job.input.windows}: a window has {longest} bytes, and the block of {name} is {config.block}; "
            "shorten `windows`, or the prompt in `showcase`"
        )
    made_by = provenance(settings, model=name, precision=precision, device=device.type)
    logger.info("%s over %d windows on %s in %s", name, len(windows), device, precision)
    with (
        open_writer(job.output.logits, logits_schema(config.vocabulary), made_by) as logits,
        open_writer(job.output.hidden, hidden_schema(config.width, config.rank or config.width), made_by) as hidden,
    ):
        states = run_windows(model, windows, settings["batch"], precision)
        for state in tqdm(states, desc=name, total=len(windows), unit="window", disable=None):
            logits.write_batch(state.logits_batch())
            hidden.write_batch(state.hidden_batch())


if __name__ == "__main__":
    run(main, snakemake)
