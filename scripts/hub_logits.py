"""Run a truth from the hub over all windows, once: its logits, hidden states and the mass of its special ids."""

import logging
from typing import TYPE_CHECKING

import torch
from tqdm import tqdm

from oversmoothing.device import choose_device, choose_precision, make_deterministic
from oversmoothing.inference import run_windows
from oversmoothing.jobs import run
from oversmoothing.logits import hidden_schema
from oversmoothing.store.parquet import open_writer, read_table
from oversmoothing.store.provenance import provenance
from oversmoothing.truths.load import load_truth
from oversmoothing.truths.special import SpecialMass, special_schema, with_special_mass

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

logger = logging.getLogger(__name__)


def main(job: "Snakemake") -> None:
    """Read the manifest of its files and the windows; write logits and hidden states, one row group per window."""
    settings, name = job.params.settings, job.wildcards.model
    device = choose_device(job.params.device)
    precision = choose_precision(settings["precision"], device)
    make_deterministic(device, settings["threads"])
    model = load_truth(job.input.manifest, name, settings, device, precision)
    windows = read_table(job.input.windows, ["window", "prompt", "scored"])
    made_by = provenance(settings, model=name, precision=precision, device=device.type)
    logger.info("%s over %d windows on %s in %s", name, len(windows), device, precision)
    seen = SpecialMass()
    with (
        open_writer(job.output.logits, special_schema(model.config.vocabulary), made_by) as logits,
        open_writer(job.output.hidden, hidden_schema(model.config.width, model.config.width), made_by) as hidden,
        torch.inference_mode(),
    ):
        states = run_windows(model, windows, settings["batch"], precision)
        for state in tqdm(states, desc=name, total=len(windows), unit="window", disable=None):
            mass = model.special_mass(torch.from_numpy(state.post).to(device)).cpu().numpy()
            logger.info("window %d: %s", state.window, seen.add(mass))
            logits.write_batch(with_special_mass(state.logits_batch(), mass))
            hidden.write_batch(state.hidden_batch())
        logits.add_key_value_metadata(seen.facts())
    logger.info("all windows: %s", seen)


if __name__ == "__main__":
    run(main, snakemake)
