"""Draw the text of a law: real prompts, each continued by bytes from the law's distributions."""

import logging

import pyarrow as pa
from tqdm import tqdm

from oversmoothing.data.reader import read_split
from oversmoothing.data.windows import SCHEMA, draw_windows
from oversmoothing.jobs import Job, run
from oversmoothing.models.device import setup
from oversmoothing.models.weights import load_model
from oversmoothing.samples.generate import generate
from oversmoothing.store.parquet import open_writer, write_table
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)
SPLITS = ("train", "validation", "evaluation")
KINDS = {"split": pa.string(), "sequence": pa.int32(), "prompt": pa.binary(), "continuation": pa.binary()}
SEQUENCES = pa.schema([pa.field(name, kind, nullable=False) for name, kind in KINDS.items()])


def main(job: Job) -> None:
    """Read the law's weights and the real text; write the sequences of all splits, and of evaluation the windows.

    Prompts start with a sentence, do not overlap, and are of the split of the real text that has their name. Sequence i
    of a split has the same prompt and random numbers in all laws, and for every number of sequences.
    """
    settings = job.params.settings
    compute = setup(job.params.device, settings)
    model = load_model(job.input.weights, compute.device)
    made_by = provenance(settings, law=job.wildcards.law, **compute.facts)
    counts = settings["sequences"]
    total = settings["sampled"] * sum(counts.values())
    logger.info("%s: %s sequences on %s in %s", job.wildcards.law, counts, *compute)
    with (
        open_writer(job.output.text, SEQUENCES, made_by) as writer,
        tqdm(desc=job.wildcards.law, total=total, unit="B", unit_scale=True, disable=None) as bar,
    ):
        for k, split in enumerate(SPLITS):
            real = read_split(job.input[split], job.input.manifest, split)
            windows = draw_windows(real, counts[split], settings["prompt"], 1, settings["seed"])
            continuations = generate(
                model,
                windows["window"].to_pylist(),
                windows["prompt"].to_pylist(),
                settings["sampled"],
                settings["decoding"],
                len(SPLITS) * settings["seed"] + k,
                settings["batch"],
                compute.precision,
                bar.update,
            )
            continued = pa.Table.from_batches(list(continuations))
            names = pa.array([split] * len(continued))
            columns = [names, *(continued[name] for name in ("window", "prompt", "continuation"))]
            writer.write_table(pa.table(columns, schema=SEQUENCES))
            if split == "evaluation":
                scored = windows.set_column(3, SCHEMA.field("scored"), continued["continuation"].combine_chunks())
                write_table(job.output.windows, scored, made_by)


if __name__ == "__main__":
    run(main)
