"""Head spectrum, anisotropy and evaluation loss of one revision of an external model."""

import logging

import pyarrow as pa

from oversmoothing.corpus.reader import read_split
from oversmoothing.device import setup
from oversmoothing.hub import asset_folder, read_asset
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.others.contexts import beginning
from oversmoothing.others.measure import MEASURES, SPECTRUM, measure
from oversmoothing.others.origin import ORIGIN, origin
from oversmoothing.pretrained.auto import load_language_model
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the manifest of its files and the beginning of the split; write measures and singular values."""
    settings, name = job.params.settings, job.wildcards.revision
    device, precision = setup(job.params.device, settings)
    text = beginning(read_split(job.input.evaluation, job.input.manifest, "evaluation"), settings["bytes"])
    folder = asset_folder(job.input.asset)
    made_of = origin(read_asset(job.input.asset))
    if made_of["instead_of"]:
        logger.warning("%s: revision %s is read in place of %s", name, made_of["read"], made_of["instead_of"])
    model = load_language_model(folder, device, "others.models")
    logger.info("%s over %d bytes on %s in %s", name, len(text), device, precision)
    try:
        rows, sigma = measure(model, text, settings["context"], settings["batch"], precision, name)
    except ValueError as error:
        raise UserError(f"others.models: {folder}: {error}; its weights are damaged") from error
    made_by = provenance(settings, model=name, precision=precision, device=device.type)
    schema = pa.schema([*MEASURES, *ORIGIN])
    write_table(job.output.measures, pa.Table.from_pylist([row | made_of for row in rows], schema=schema), made_by)
    columns = [range(1, len(sigma) + 1), sigma]
    write_table(job.output.spectrum, pa.table(columns, schema=SPECTRUM), made_by)


if __name__ == "__main__":
    run(main)
