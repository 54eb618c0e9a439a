"""Choose the learning rate of an arm from the histories of its trials."""

from oversmoothing.jobs import Job, run
from oversmoothing.store.sealed_json import write_sealed
from oversmoothing.training.history import choose, lowest_loss


def main(job: Job) -> None:
    """Read the histories; write the losses by rate, and the rate with the lowest."""
    trials = job.params.settings["trials"]
    losses = {trial["learning_rate"]: lowest_loss(path) for trial, path in zip(trials, job.input, strict=True)}
    chosen = {"arm": job.wildcards.arm, "learning_rate": choose(losses)}
    chosen["losses"] = {f"{rate:g}": loss for rate, loss in losses.items()}
    write_sealed(job.output[0], chosen)


if __name__ == "__main__":
    run(main)
