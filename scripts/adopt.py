"""Adopt a checkpoint of the user, after checking that it is complete and fits the windows."""

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.weights import check_header, load_tensors, save_tensors


def main(job: Job) -> None:
    """Check the file; write it, with a checksum, where trained models are stored."""
    path = job.input[0]
    block = check_header(path).block
    if block < job.params.block:
        raise UserError(
            f"{path}: its block of {block} is shorter than a window of {job.params.block}; shorten `windows`"
        )
    save_tensors(job.output.weights, *load_tensors(path))


if __name__ == "__main__":
    run(main)
