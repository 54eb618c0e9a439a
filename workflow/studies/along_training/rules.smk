"""Measurements of the models along their training, from its snapshots (Godey et al. 2024).

Needs: windows.parquet, snapshots and weights of the models trained here, the truths' logits.
Makes: dynamics/{model}.parquet and dynamics/spectra/{model}.parquet; tables/along_training.{csv,md,html,tex}; figures
along_training, forced_along_training, layers_along_training, head_spectra and oversmoothing_against_loss.{png,svg,pdf}.
"""

from studies.along_training import plan as along_training

SNAPSHOTS += along_training.followed(MODELS.values())
FOLLOWED = [model for model in SNAPSHOTS if model.kind == "family"]


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
        model=one_of(model.name for model in SNAPSHOTS),
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
            tbat=along_training.tbat(config, wildcards.model),
            forced=config["dynamics"]["forced_per_window"],
        ),
        device=DEVICE,
    script:
        "measure.py"


if FOLLOWED:

    rule along_training_table:
        input:
            measures=[f"{RESULTS}/dynamics/{model.name}.parquet" for model in FOLLOWED],
            spectra=[f"{RESULTS}/dynamics/spectra/{model.name}.parquet" for model in FOLLOWED],
        output:
            **table("along_training", "8 Small models", "Along training: where the models end", caption="table.rst"),
            along=[
                *figure(
                    "along_training",
                    "8 Small models",
                    "Along training: loss, head and hidden states",
                    caption="figure.rst",
                ).values()
            ],
            against_loss=[
                *figure(
                    "oversmoothing_against_loss",
                    "8 Small models",
                    "Oversmoothing against loss",
                    caption="against_loss.rst",
                ).values()
            ],
            layers=[
                *figure(
                    "layers_along_training",
                    "8 Small models",
                    "Along training: the hidden states of every block",
                    caption="layers.rst",
                ).values()
            ],
            spectra=[
                *figure(
                    "head_spectra",
                    "8 Small models",
                    "Along training: singular values of the head",
                    caption="spectra.rst",
                ).values()
            ],
        params:
            settings=settings(
                unit=UNIT, models=[{"model": model.name, "rank": model.rank, "seed": model.seed} for model in FOLLOWED]
            ),
        script:
            "show.py"

    if config["dynamics"]["forced_per_window"]:

        rule forced_along_training_figure:
            input:
                f"{RESULTS}/tables/along_training.csv",
            output:
                **figure(
                    "forced_along_training",
                    "8 Small models",
                    "Along training: what the head forces, and the rest",
                    caption="forced.rst",
                ),
            script:
                "forced_figure.py"
