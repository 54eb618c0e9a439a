"""Adopt a checkpoint of the user, after checking that it is complete and fits the windows."""

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.adopted import read_adopted
from oversmoothing.models.output_kinds import LINEAR
from oversmoothing.models.weights import save_tensors


def main(job: Job) -> None:
    """Check the file; write it, with a checksum, where trained models are stored."""
    path = job.input[0]
    config, tensors, metadata = read_adopted(path)
    if config.output != LINEAR:
        raise UserError(
            f"{path}: output: {config.output} is no linear head, which a member with a `path` has; train it"
        )
    block = config.block
    if block < job.params.block:
        raise UserError(
            f"{path}: its block of {block} is shorter than a window of {job.params.block}; shorten `windows`"
        )
    save_tensors(job.output.weights, tensors, metadata)


if __name__ == "__main__":
    run(main)
