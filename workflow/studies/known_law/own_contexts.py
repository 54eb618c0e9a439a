"""How far a model is from the law behind text that it wrote itself, where effects of oversmoothing may add up."""

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.data.windows import SCHEMA, read_windows
from oversmoothing.jobs import Job, run
from oversmoothing.models.device import setup
from oversmoothing.models.inference import run_windows
from oversmoothing.models.weights import load_model
from oversmoothing.samples.generate import generate
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.metrics import score
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance
from studies.known_law.laws import OWN, PURE

ROWS = pa.schema([("window", pa.int32()), ("position", pa.int32()), *((name, pa.float32()) for name in OWN)])


def main(job: Job) -> None:
    """Read a model, the weights of the law and its windows; continue each prompt, and score each byte written.

    The model's distribution and the law's are both given the prompt and what the model has written so far.
    """
    settings = job.params.settings
    compute = setup(job.params.device, settings)
    model, law = (load_model(path, compute.device) for path in (job.input.weights, job.input.law))
    decoders = [decoder(settings["decoding"]), decoder(PURE)]
    windows = read_windows(job.input.windows)
    numbers, prompts = windows["window"].to_pylist(), windows["prompt"].to_pylist()
    how = (settings["sampled"], PURE, settings["seed"], settings["batch"], compute.precision)
    written = pa.Table.from_batches(list(generate(model, numbers, prompts, *how)))
    own = windows.set_column(3, SCHEMA.field("scored"), written["continuation"].combine_chunks())
    with open_writer(job.output[0], ROWS, provenance(settings, **compute.facts)) as writer:
        passes = zip(*(run_windows(of, own, settings["batch"], compute.precision) for of in (model, law)), strict=True)
        for ours, of_law in tqdm(passes, total=len(own), unit="window", disable=None):
            p = decoders[0](softmax(of_law.logits))
            values = score(softmax(ours.logits), p, decoders[1:], OWN, settings["tau"])[0]
            keys = (np.full(len(p), ours.window, np.int32), np.arange(len(p), dtype=np.int32))
            writer.write_batch(pa.record_batch([*map(pa.array, (*keys, *values))], schema=ROWS))


if __name__ == "__main__":
    run(main)
