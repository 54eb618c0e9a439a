"""Measurements of models along their training (Godey et al. 2024): of those trained here, and of other people's.

Needs: windows.parquet, snapshots and weights of the models trained here, the truths' logits; of other people's models
the evaluation split and the manifests of `snakemake assets`.
Makes: dynamics/{model}.parquet and dynamics/spectra/{model}.parquet.
If the config lists revisions of other people's models: others/{model}/{revision}.parquet.
"""

from studies.along_training import plan as along_training

FOLLOWED = along_training.followed(RUN.models.values())
REVISIONS = along_training.revisions(config)


rule dynamics:
    input:
        windows=RUN.windows,
        weights=RUN.weights,
        snapshots=f"{RUN.results}/models/{{model}}/snapshots",
        history=RUN.history,
        truths=expand(RUN.logits, model=RUN.truths),
    output:
        measures=f"{RUN.results}/dynamics/{{model}}.parquet",
        spectra=f"{RUN.results}/dynamics/spectra/{{model}}.parquet",
    wildcard_constraints:
        model=one_of(model.name for model in FOLLOWED),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=4000, runtime=60),
    params:
        settings=lambda wildcards: settings(
            **plan.tokens.inference(config),
            windows=config["dynamics"]["windows"],
            tau=config["metrics"]["tau"],
            truths=RUN.truths,
            backward_rank=RUN.models[wildcards.model].settings["training"]["backward_rank"],
            forced=config["dynamics"]["forced_per_window"],
        ),
        device=DEVICE,
    script:
        "measure.py"


if REVISIONS:

    rule others:
        input:
            evaluation=ancient(RUN.corpus["evaluation"]),
            manifest=RUN.manifest,
            asset=lambda wildcards: RUN.manifest_of.format(asset=REVISIONS[wildcards.revision].asset),
        output:
            f"{RUN.results}/others/{{revision}}.parquet",
        wildcard_constraints:
            revision=one_of(REVISIONS),
        threads: config["others"]["threads"]
        resources:
            **ON_GPU,
            **per_attempt(runtime=120),
            mem_mb=lambda wildcards, input, attempt: along_training.memory(
                REVISIONS[wildcards.revision], input.asset, attempt
            ),
        params:
            settings=lambda wildcards: REVISIONS[wildcards.revision].settings,
            device=DEVICE,
        script:
            "others.py"
