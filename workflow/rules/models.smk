"""The models: the family, whose members differ in the rank of the head, and the truths that they are measured against.

Needs: the training and validation bytes; for a model with `path:`, that file.
Makes: models/{model}/weights.safetensors (best checkpoint), history.parquet, snapshots/; figures/architecture.{png,svg,pdf}
(Figure 2.1); models.parquet, which lists all models.
"""

MODELS_TABLE = f"{RESULTS}/models.parquet"


rule train:
    input:
        training=ancient(READ["train"]),
        validation=ancient(READ["validation"]),
        manifest=READ["manifest"],
        learning_rate=chosen_rate,
    output:
        weights=WEIGHTS,
        history=HISTORY,
        snapshots=directory(f"{RESULTS}/models/{{model}}/snapshots"),
    log:
        f"{RESULTS}/logs/train/{{model}}.log",
    wildcard_constraints:
        model=one_of(model.name for model in of_type(Trained, MODELS) if model.kind != "truth"),
    threads: lambda wildcards: model_of(wildcards).processes * model_of(wildcards).settings["training"]["threads"]
    resources:
        gpu=lambda wildcards: GPUS * model_of(wildcards).processes,
        gpu_job=GPUS,
        mem_mb=lambda wildcards, attempt: plan.resources.training_memory(model_of(wildcards), attempt),
        runtime=lambda wildcards: plan.resources.training_time(config, model_of(wildcards)),
        slurm_extra=lambda wildcards: plan.resources.stop_signal(model_of(wildcards)),
    params:
        settings=lambda wildcards: model_of(wildcards).settings,
        checkpoints=lambda wildcards, output: plan.models.checkpoints(config, "-".join(wildcards)),
        device=DEVICE,
        processes=lambda wildcards, output: model_of(wildcards).processes,
    script:
        step("train.py")


use rule train as train_truth with:
    wildcard_constraints:
        model=one_of(model.name for model in TRAINED if model.kind == "truth"),
    priority: 10  # the longest training starts first


rule adopt:
    input:
        lambda wildcards: MODELS[wildcards.model].path,
    output:
        weights=WEIGHTS,
    wildcard_constraints:
        model=one_of(model.name for model in of_type(Checkpoint, MODELS)),
    resources:
        **per_attempt(mem_mb=4000, runtime=10),
    params:
        block=config["windows"]["prompt"] + config["windows"]["scored"],
        file=lambda wildcards: contents([MODELS[wildcards.model].path]),
    script:
        step("adopt.py")


rule models_table:
    input:
        weights=[
            WEIGHTS.format(model=model.name) for model in TRAININGS.values() if isinstance(model, Trained | Checkpoint)
        ],
        histories=[HISTORY.format(model=model.name) for model in of_type(Trained, TRAININGS)],
    output:
        MODELS_TABLE,
    localrule: True
    params:
        settings=settings(models=plan.models.listed(config), unit=UNIT),
    script:
        step("models_table.py")


if TRAINED:

    rule architecture_figure:
        output:
            **figure("architecture", "2 Background", "Figure 2.1: the models"),
        params:
            settings=settings(
                models=[{"model": model.name, "kind": model.kind, "shape": model.shape} for model in PREDICTORS]
            ),
        script:
            step("architecture_figure.py")
