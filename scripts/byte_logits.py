"""Distributions of the next byte of a model over tokens, over all windows."""

import logging

from tqdm import tqdm

from oversmoothing.bytewise.next_bytes import BYTES
from oversmoothing.data.reader import read_split
from oversmoothing.data.tokens.special import tell_special_names
from oversmoothing.data.tokens.vocabulary import FAST, load_tokenizer
from oversmoothing.data.windows import read_windows
from oversmoothing.hub.manifest import asset_folder
from oversmoothing.jobs import Job, run
from oversmoothing.models.byte_windows import byte_rows, readings
from oversmoothing.models.device import setup
from oversmoothing.models.logits import logits_schema, special_mass_facts
from oversmoothing.models.truths.byte_view import load_byte_view
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read a model, the windows and the text before them; write log-probabilities of bytes, a row group per window."""
    settings, name = job.params.settings, job.wildcards.model
    compute = setup(job.params.device, settings)
    folder = asset_folder(job.input.asset)
    view = load_byte_view(folder, name, settings, *compute)
    evaluation = None
    if settings["context"] and job.input.evaluation:
        evaluation = read_split(job.input.evaluation, job.input.manifest, "evaluation")
        tell_special_names([load_tokenizer(folder / FAST)], evaluation, f"the evaluation split, which {name} reads,")
    windows = read_windows(job.input.windows)
    logger.info("%s over %d windows on %s in %s", name, len(windows), *compute)
    made_by, dropped = provenance(settings, model=name, **compute.facts), []
    with open_writer(job.output.logits, logits_schema(BYTES, special_mass=True), made_by) as logits:
        read = readings(windows, evaluation, settings["context"])
        for number, reading in enumerate(tqdm(read, desc=name, total=len(windows), unit="window", disable=None), 1):
            found = view.next_bytes(reading.text, reading.start)
            logits.write_batch(byte_rows(reading, found.probabilities, found.dropped))
            dropped.append(found.dropped)
            logger.info("window %d of %d", number, len(windows))  # the longest job: bars and `so_far` read this
        logits.add_key_value_metadata(facts := special_mass_facts(dropped))
    logger.info("probability that no byte can have: %(special_mass_mean)s, %(special_mass_max)s at most", facts)


if __name__ == "__main__":
    run(main)
