"""Quality of one model's samples under every decoding, or of the human texts."""

import logging
from importlib.metadata import version

from tqdm import tqdm

from oversmoothing.device import setup
from oversmoothing.hub import asset_folder
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.pretrained.auto import load_language_model
from oversmoothing.quality.perplexity import is_gpt2_large
from oversmoothing.quality.quality import quality, quality_table, read_samples, read_with
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.store.sums import check_folder

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the windows and the samples (for human texts, further windows); write the quality of each set."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    read_by = job.input.language_model
    if job.params.language_model:
        model = load_language_model(asset_folder(read_by), device)
    else:
        check_folder(read_by)
        model = load_language_model(read_by, device)
    human = read_samples(job.input.windows, "scored")
    completed = settings["completed"]
    human_readings = read_with(model, human, settings["batch"], completed, precision)
    rows = {}
    sets = list(zip(settings["sets"], job.input.samples, strict=True))
    for name, path in tqdm(sets, desc="quality", unit="set", disable=None):
        samples = read_samples(path, settings["column"])
        readings = read_with(model, samples, settings["batch"], completed, precision)
        try:
            rows[name] = quality(
                samples, readings, human, human_readings, completed, settings["resamples"], settings["seed"]
            )
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
    facts = {name: version(name) for name in ("transformers", "mauve-text", "english-words")}
    table = quality_table(rows)
    write_table(job.output[0], table, provenance(settings, gpt2_large=is_gpt2_large(model), **facts))
    logger.info("%d rows for %d sets", len(table), len(rows))


if __name__ == "__main__":
    run(main)
