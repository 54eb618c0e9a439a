"""The models: the family, whose members differ in the rank of the head, and the truths that they are measured against.

Needs: the training and validation bytes; for a model with `path:`, that file.
Makes: models/{model}/weights.safetensors (best checkpoint), history.parquet, snapshots/, each behind
{text} for models that learn a text of a study; models.parquet, which lists all models. Under `decay: stable` also
trunks/{model}/, a training until the decay of {model} begins, with the states that it and shorter ones go on from.
"""

MODELS_TABLE = f"{RUN.results}/models.parquet"
LEARNED_FROM = {
    "training": lambda wildcards: ancient(text_of(wildcards).splits["train"]),
    "validation": lambda wildcards: ancient(text_of(wildcards).splits["validation"]),
    "manifest": lambda wildcards: text_of(wildcards).splits["manifest"],
}


rule train:
    input:
        **LEARNED_FROM,
        learning_rate=chosen_rate,
        start=states_of_trunk,
    output:
        weights=RUN.on_any_text(RUN.weights),
        history=RUN.on_any_text(RUN.history),
        snapshots=directory(RUN.on_any_text(f"{RUN.results}/models/{{model}}/snapshots")),
    log:
        f"{RUN.results}/logs/{{text}}train/{{model}}.log",
    wildcard_constraints:
        text=one_of(folder for folder, text in RUN.texts.items() if text.splits),
        model=one_of([*(model.name for model in of_type(Trained, RUN.known) if model.kind != "truth"), *LEARNERS]),
    threads: lambda wildcards: model_of(wildcards).processes * model_of(wildcards).settings["training"]["threads"]
    resources:
        gpu=lambda wildcards: RUN.gpus * model_of(wildcards).processes,
        gpu_job=RUN.gpus,
        mem_mb=lambda wildcards, attempt: plan.resources.training_memory(model_of(wildcards), attempt),
        runtime=lambda wildcards: plan.resources.training_time(config, model_of(wildcards)),
        slurm_extra=lambda wildcards: plan.resources.stop_signal(model_of(wildcards)),
    params:
        settings=lambda wildcards: model_of(wildcards).settings,
        checkpoints=lambda wildcards, output: plan.models.checkpoints(
            config, "-".join(filter(None, [text_of(wildcards).name, wildcards.model]))
        ),
        device=DEVICE,
        processes=lambda wildcards, output: model_of(wildcards).processes,
    script:
        step("train.py")


use rule train as train_truth with:
    wildcard_constraints:
        text=one_of([""]),
        model=one_of(model.name for model in RUN.trained if model.kind == "truth"),
    priority: 10  # the longest training starts first


use rule train as train_trunk with:
    input:
        **LEARNED_FROM,
    output:
        weights=f"{OF_TRUNK}/weights.safetensors",
        history=f"{OF_TRUNK}/history.parquet",
        snapshots=directory(f"{OF_TRUNK}/snapshots"),
        states=temp(directory(f"{OF_TRUNK}/states")),
    log:
        f"{RUN.results}/logs/{{text}}train_trunk/{{model}}.log",
    wildcard_constraints:
        text=one_of(RUN.trunks),
        model=one_of(trunk.name for of_text in RUN.trunks.values() for trunk in of_text.values()),
    params:
        settings=lambda wildcards: trunk_of(wildcards).settings,
        checkpoints=lambda wildcards, output: plan.models.checkpoints(
            config, "-".join(filter(None, [text_of(wildcards).name, wildcards.model, "trunk"]))
        ),
        device=DEVICE,
        processes=lambda wildcards, output: model_of(wildcards).processes,


ruleorder: train_truth > train  # a model that learns a text of a study may have the name of a truth


rule adopt:
    input:
        lambda wildcards: RUN.models[wildcards.model].path,
    output:
        weights=RUN.weights,
    wildcard_constraints:
        model=one_of(model.name for model in of_type(Checkpoint, RUN.models)),
    resources:
        **per_attempt(mem_mb=4000, runtime=10),
    params:
        block=config["windows"]["prompt"] + config["windows"]["scored"],
        files=lambda wildcards: contents([RUN.models[wildcards.model].path], f"model {wildcards.model}"),
    script:
        step("adopt.py")


rule models_table:
    input:
        weights=RUN.of(RUN.weights, [*RUN.own, *RUN.trials]),
        histories=RUN.of(RUN.history, (model.name for model in of_type(Trained, RUN.known))),
    output:
        MODELS_TABLE,
    localrule: True
    params:
        settings=settings(models=plan.models.listed(config), unit=RUN.unit),
    script:
        step("models_table.py")
