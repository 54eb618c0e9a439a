"""A law of losses fitted to training histories, and where each model leaves it (Godey et al. 2024).

Needs: the histories and weights of the models trained here, and the files that `saturation.histories` names.
Makes: saturation/{law,points}.parquet; tables/saturation.{csv,md,html,tex}; figures/saturation.{png,svg,pdf}.
"""

STUDIED = plan.saturation.trained_models(config, MODELS)


rule saturation:
    input:
        histories=[HISTORY.format(model=model.name) for model in STUDIED],
        weights=[WEIGHTS.format(model=model.name) for model in STUDIED],
        others=[entry["path"] for entry in config["saturation"]["histories"]],
    output:
        law=f"{RESULTS}/saturation/law.parquet",
        points=f"{RESULTS}/saturation/points.parquet",
    resources:
        **per_attempt(mem_mb=2000, runtime=30),
    params:
        settings=plan.saturation.fit_settings(config, MODELS),
        files=lambda wildcards: contents(
            entry["path"] for entry in config["saturation"]["histories"]
        ),
    script:
        "../../scripts/saturation.py"


if COMPARED_WITH_LAW:

    rule saturation_table:
        input:
            law=f"{RESULTS}/saturation/law.parquet",
            points=f"{RESULTS}/saturation/points.parquet",
        output:
            **table(
                "saturation",
                category="8 Saturation",
                label="Saturation: how far above the law models end",
            ),
        params:
            settings=settings(models=COMPARED_WITH_LAW),
        script:
            "../../scripts/saturation_table.py"

    rule saturation_figure:
        input:
            law=f"{RESULTS}/saturation/law.parquet",
            points=f"{RESULTS}/saturation/points.parquet",
        output:
            **figure(
                "saturation",
                category="8 Saturation",
                label="Saturation: losses and the law",
            ),
        params:
            settings=settings(models=COMPARED_WITH_LAW, truths=TRUTHS),
        script:
            "../../scripts/saturation_figure.py"
