"""Effective ranks and singular values of a model's logits, probabilities, hidden states and head (thesis 7.2)."""

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.ranks.measure import heads, measure, representations
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read a model's logits, hidden states and head; write the ranks and singular values of each."""
    settings = job.params.settings
    matrices = representations(job.input.logits, job.input.hidden, settings["positions"], settings["seed"])
    try:
        ranks, spectra = measure(matrices | heads(job.input.weights), settings["threshold"])
    except ValueError as error:
        raise UserError(f"{job.wildcards.model}: {error}; train it again") from error
    made_by = provenance(settings, model=job.wildcards.model)
    write_table(job.output.ranks, ranks, made_by)
    write_table(job.output.spectra, spectra, made_by)


if __name__ == "__main__":
    run(main)
