"""Put a head of a lower rank in the place of a model's own: the model whose distributions are a law of known rank."""

import torch

from oversmoothing.jobs import Job, run
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.weights import load_model, save_model
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read a model and the factors of a head; write the model with their product as its head."""
    model = load_model(job.input.weights)
    head = read_model_head(job.input.head)
    with torch.no_grad():
        model.head.weight.copy_(torch.from_numpy(head.weights))
    tensors = model.state_dict()
    save_model(job.output[0], model.config, tensors, provenance(job.params.settings, law=job.wildcards.law))


if __name__ == "__main__":
    run(main)
