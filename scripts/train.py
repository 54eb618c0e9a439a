"""Train one member of the family or one truth, from its last checkpoint if there is one."""

from oversmoothing.jobs import Job, asked, run
from oversmoothing.training.chosen_rate import with_rate
from oversmoothing.training.launch import launch
from oversmoothing.training.task import Task


def main(job: Job) -> None:
    """Train in the configured number of processes, with the learning rate that was chosen, if one was."""
    task = Task(
        model=job.wildcards.model,
        settings=with_rate(job.params.settings, job.input.get("learning_rate") or None),
        device=job.params.device,
        code=job.params.code,
        checkpoints=job.params.checkpoints["folder"],
        interval=job.params.checkpoints["interval"],
        training=str(job.input.training),
        validation=str(job.input.validation),
        manifest=str(job.input.manifest),
        weights=str(job.output.weights),
        history=str(job.output.history),
        snapshots=str(job.output.snapshots),
        log=str(job.log[0]) if job.log else None,
        start=job.input.get("start") or None,
        states=job.output.get("states"),
        asked=dict(asked),
    )
    launch(task, job.params.processes)


if __name__ == "__main__":
    run(main)
