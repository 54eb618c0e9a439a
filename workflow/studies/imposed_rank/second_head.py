"""The second head of a model that was trained with two, in a file of its own, as a retrained head has one."""

from oversmoothing.jobs import Job, run
from oversmoothing.models.spectra import ALONE, READS
from oversmoothing.models.weights import load_tensors, save_tensors
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read the weights of the model; write its second head, which reads what enters the bottleneck."""
    tensors, _ = load_tensors(job.input.weights)
    made_by = provenance({}, model=job.wildcards.model)
    head = {"head.weight": tensors["beside.weight"]}
    save_tensors(job.output.weights, head, made_by | {READS: "pre", "head": ALONE})


if __name__ == "__main__":
    run(main)
