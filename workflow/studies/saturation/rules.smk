"""A law of losses fitted to training histories, and where each model leaves it (Godey et al. 2024).

Needs: the histories and weights of the models trained here, and the files that `saturation.histories` names.
Makes: saturation/{law,points}.parquet.
"""

from studies.saturation import plan as saturation

OF_LAW = [model.name for model in saturation.trained_models(config, RUN.models)]


rule saturation:
    input:
        histories=expand(RUN.history, model=OF_LAW),
        weights=expand(RUN.weights, model=OF_LAW),
        others=saturation.files(config).values(),
    output:
        law=f"{RUN.results}/saturation/law.parquet",
        points=f"{RUN.results}/saturation/points.parquet",
    resources:
        **per_attempt(mem_mb=2000, runtime=30),
    params:
        settings=saturation.fit_settings(config, RUN.models),
        files=lambda wildcards: contents(saturation.files(config).values(), "losses of others"),
    script:
        "measure.py"
