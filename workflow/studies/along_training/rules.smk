"""Measurements of models along their training (Godey et al. 2024): of those trained here, and of other people's.

Needs: windows.parquet, snapshots and weights of the models trained here, the truths' logits; of other people's models
the evaluation split and the manifests of `snakemake assets`.
Makes: dynamics/{model}.parquet and dynamics/spectra/{model}.parquet; tables/along_training.{csv,md,html,tex}; figures
along_training, forced_along_training, layers_along_training, head_spectra and oversmoothing_against_loss.{png,svg,pdf}.
If the config lists revisions of other people's models: others/{model}/{revision}.parquet,
tables/other_models.{csv,md,html,tex} and figures/other_models.{png,svg,pdf}.
"""

from studies.along_training import plan as along_training

FOLLOWED = along_training.followed(MODELS.values())
REVISIONS = along_training.revisions(config)


drawn = lambda name, label: [*figure(name, "8 Small models", label).values()]  # one of several outputs of a rule


rule dynamics:
    input:
        windows=WINDOWS,
        weights=WEIGHTS,
        snapshots=f"{RESULTS}/models/{{model}}/snapshots",
        history=HISTORY,
        truths=expand(LOGITS, model=TRUTHS),
    output:
        measures=f"{RESULTS}/dynamics/{{model}}.parquet",
        spectra=f"{RESULTS}/dynamics/spectra/{{model}}.parquet",
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
            truths=TRUTHS,
            backward_rank=MODELS[wildcards.model].settings["training"]["backward_rank"],
            forced=config["dynamics"]["forced_per_window"],
        ),
        device=DEVICE,
    script:
        "measure.py"


if FOLLOWED:
    FORCED_ALONG = {}
    if config["dynamics"]["forced_per_window"]:
        FORCED_ALONG["forced"] = drawn("forced_along_training", "Along training: what the head forces, and the rest")

    rule along_training_table:
        input:
            measures=[f"{RESULTS}/dynamics/{model.name}.parquet" for model in FOLLOWED],
            spectra=[f"{RESULTS}/dynamics/spectra/{model.name}.parquet" for model in FOLLOWED],
        output:
            **table("along_training", "8 Small models", "Along training: where the models end"),
            **FORCED_ALONG,
            courses=drawn("along_training", "Along training: loss, head and hidden states"),
            against_loss=drawn("oversmoothing_against_loss", "Oversmoothing against loss"),
            layers=drawn("layers_along_training", "Along training: the hidden states of every block"),
            spectra=drawn("head_spectra", "Along training: singular values of the head"),
        params:
            settings=settings(
                unit=UNIT, models=[{"model": model.name, "rank": model.rank, "seed": model.seed} for model in FOLLOWED]
            ),
        script:
            "show.py"


if REVISIONS:

    rule others:
        input:
            evaluation=ancient(CORPUS["evaluation"]),
            manifest=MANIFEST,
            asset=lambda wildcards: MANIFEST_OF.format(asset=REVISIONS[wildcards.revision].asset),
        output:
            f"{RESULTS}/others/{{revision}}.parquet",
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

    rule other_models_table:
        input:
            measures=[f"{RESULTS}/others/{place}.parquet" for place in REVISIONS],
        output:
            **table("other_models", "8 Small models", "Other people's models, by revision"),
            courses=drawn("other_models", "Other people's models: loss, head and hidden states"),
        params:
            settings=settings(
                unit="token",
                models=[
                    {"model": one.model, "revision": one.revision, "step": one.step} for one in REVISIONS.values()
                ],
            ),
        script:
            "show.py"
