"""Write a text of a law as a corpus to train on: some of its sequences, and those for validation."""

from contextlib import ExitStack
from pathlib import Path

from oversmoothing.data.writer import SplitWriter
from oversmoothing.jobs import Job, run
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.parquet import read_table
from oversmoothing.store.sealed_json import write_sealed


def main(job: Job) -> None:
    """Read the sequences of a law; write the bytes of two splits and their manifest."""
    settings = job.params.settings
    table = read_table(job.input[0]).to_pandas()
    whole = {"length": settings["prompt"] + settings["sampled"], "prompt": settings["prompt"]}
    after, parts = settings.get("after", 0), {}
    with ExitStack() as stack:
        temporary = stack.enter_context(atomic_path(job.output.manifest))
        for split in ("train", "validation"):
            rows = table[table.split == split].sort_values("sequence")
            rows = rows[after : after + settings["sequences"]] if split == "train" else rows
            writer = SplitWriter(stack, split, Path(job.output[split]), "")
            for prompt, continuation in zip(rows.prompt, rows.continuation, strict=True):
                writer.write(prompt + continuation, 1)
            parts[split] = writer.close({})
        contents = {"source": {"law": Path(job.wildcards.text).name}, "sequences": whole, "splits": parts}
        write_sealed(temporary, contents, job.output.manifest)


if __name__ == "__main__":
    run(main)
