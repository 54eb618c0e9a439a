"""The models: the family, which differs in the rank of its head, and the truths it is measured against.

Needs: the training and validation bytes; for a model with `path:`, that file.
Makes: models/{model}/weights.safetensors (best checkpoint), history.parquet, snapshots/; figures/architecture.{png,svg}
(Figure 2.1).
"""

from oversmoothing.training.accepted import discard_accepted


rule train:
    input:
        training=ancient(CORPUS["train"]),
        validation=ancient(CORPUS["validation"]),
        manifest=MANIFEST,
    output:
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
        history=f"{RESULTS}/models/{{model}}/history.parquet",
        snapshots=directory(f"{RESULTS}/models/{{model}}/snapshots"),
    log:
        f"{RESULTS}/logs/train/{{model}}.log",
    wildcard_constraints:
        model=one_of(
            model
            for model in MODELS.values()
            if model.settings and model.kind == "family"
        ),
    conda:
        ENVIRONMENT
    threads: lambda wildcards: plan.training_threads(MODELS[wildcards.model])
    resources:
        gpu=lambda wildcards: GPUS * MODELS[wildcards.model].processes,
        gpu_job=GPUS,
        mem_mb=lambda wildcards, attempt: plan.training_memory(
            MODELS[wildcards.model], attempt
        ),
        runtime=lambda wildcards: plan.training_time(config, MODELS[wildcards.model]),
        slurm_extra=lambda wildcards: plan.stop_signal(MODELS[wildcards.model]),
    params:
        settings=lambda wildcards: MODELS[wildcards.model].settings,
        checkpoints=lambda wildcards, output: plan.checkpoints(config, wildcards.model),
        device=lambda wildcards, output: config["device"],
        processes=lambda wildcards, output: MODELS[wildcards.model].processes,
        code=fingerprint("train.py"),
    script:
        "../../scripts/train.py"


use rule train as train_truth with:
    wildcard_constraints:
        model=one_of(
            model
            for model in MODELS.values()
            if model.settings and model.kind == "truth"
        ),
    priority: 10  # the longest training starts first


rule adopt:
    input:
        lambda wildcards: MODELS[wildcards.model].path,
    output:
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
    log:
        f"{RESULTS}/logs/adopt/{{model}}.log",
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.path),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(4000),
        runtime=plan.growing(10),
    params:
        block=config["windows"]["prompt"] + config["windows"]["scored"],
        file=lambda wildcards: contents([MODELS[wildcards.model].path]),
        code=fingerprint("adopt.py"),
    script:
        "../../scripts/adopt.py"


rule architecture_figure:
    output:
        f"{RESULTS}/figures/architecture.png",
        report(
            f"{RESULTS}/figures/architecture.svg",
            caption="../report/architecture.rst",
            category="2 Background",
            labels={"result": "Figure 2.1: the models"},
        ),
    log:
        f"{RESULTS}/logs/architecture_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            models=[
                {
                    "model": model.name,
                    "kind": model.kind,
                    "shape": model.settings["model"] if model.settings else None,
                }
                for model in MODELS.values()
                if model.kind != "svd"
            ]
        ),
        code=fingerprint("architecture_figure.py"),
    script:
        "../../scripts/architecture_figure.py"
