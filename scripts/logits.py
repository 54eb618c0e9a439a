"""Logits and hidden states of one model over all windows."""

import logging
from typing import TYPE_CHECKING

from tqdm import tqdm

from oversmoothing.device import setup
from oversmoothing.inference import run_windows
from oversmoothing.jobs import UserError, run
from oversmoothing.logits import SpecialMass, hidden_schema, logits_schema
from oversmoothing.predictor import has_special_ids, load_predictor
from oversmoothing.store.parquet import open_writer, read_table
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

logger = logging.getLogger(__name__)


def main(job: "Snakemake") -> None:
    """Read a model and the windows; write logits and hidden states, one row group per window."""
    settings, name = job.params.settings, job.wildcards.model
    compute = setup(job.params.device, settings)
    model = load_predictor(job, compute)
    config, special = model.config, has_special_ids(model)
    windows = read_table(job.input.windows, ["window", "prompt", "scored"])
    longest = max(len(row["prompt"] + row["scored"]) for row in windows.to_pylist())
    if longest - 1 > config.block:  # the last byte is scored but not read
        raise UserError(
            f"{job.input.windows}: a window has {longest} bytes, and the block of {name} is {config.block}; "
            "shorten `windows`, or the prompt in `showcase`"
        )
    made_by = provenance(settings, model=name, **compute.facts)
    logger.info("%s over %d windows on %s in %s", name, len(windows), *compute)
    mass = SpecialMass()
    with (
        open_writer(job.output.logits, logits_schema(config.vocabulary, special), made_by) as logits,
        open_writer(job.output.hidden, hidden_schema(config.width, config.rank or config.width), made_by) as hidden,
    ):
        states = run_windows(model, windows, settings["batch"], compute.precision)
        for state in tqdm(states, desc=name, total=len(windows), unit="window", disable=None):
            logits.write_batch(state.logits_batch())
            hidden.write_batch(state.hidden_batch())
            if state.special_mass is not None:
                logger.info("window %d: %s", state.window, mass.add(state.special_mass))
        if special:
            logits.add_key_value_metadata(mass.facts())
            logger.info("all windows: %s", mass)


if __name__ == "__main__":
    run(main)
