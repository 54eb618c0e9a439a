"""A law of losses fitted to training histories, and where each model leaves it (Godey et al. 2024).

Needs: the histories and weights of the models trained here, and the files that `saturation.histories` names.
Makes: saturation/{law,points}.parquet; tables/saturation.{csv,md,html,tex}; figures/saturation.{png,svg,pdf}.
"""

from studies.saturation import plan as saturation

OF_LAW = [model.name for model in saturation.trained_models(config, MODELS)]


rule saturation:
    input:
        histories=expand(HISTORY, model=OF_LAW),
        weights=expand(WEIGHTS, model=OF_LAW),
        others=saturation.files(config).values(),
    output:
        law=f"{RESULTS}/saturation/law.parquet",
        points=f"{RESULTS}/saturation/points.parquet",
    resources:
        **per_attempt(mem_mb=2000, runtime=30),
    params:
        settings=saturation.fit_settings(config, MODELS),
        files=lambda wildcards: contents(saturation.files(config).values(), "losses of others"),
    script:
        "measure.py"


if saturation.models_in_table(config, MODELS):

    rule saturation_table:
        input:
            law=f"{RESULTS}/saturation/law.parquet",
            points=f"{RESULTS}/saturation/points.parquet",
        output:
            **table("saturation", "8 Small models", "Saturation: how far above the law models end"),
            **figure("saturation", "8 Small models", "Saturation: losses and the law"),
        params:
            settings=settings(models=saturation.models_in_table(config, MODELS), truths=TRUTHS),
        script:
            "table.py"
