"""A law of losses fitted to training histories, and where each model leaves it (Godey et al. 2024).

Needs: the histories and the weights of what was trained here, and the files that `saturation.histories` names.
Makes: saturation/{law,points}.parquet; tables/saturation.{csv,md,html,tex}; figures/saturation.{png,svg}.
"""

STUDIED = plan.with_histories(config, MODELS)
COMPARED = plan.compared(config, MODELS)


rule saturation:
    input:
        histories=[
            f"{RESULTS}/models/{model.name}/history.parquet" for model in STUDIED
        ],
        weights=[
            f"{RESULTS}/models/{model.name}/weights.safetensors" for model in STUDIED
        ],
        others=[entry["path"] for entry in config["saturation"]["histories"]],
    output:
        law=f"{RESULTS}/saturation/law.parquet",
        points=f"{RESULTS}/saturation/points.parquet",
    log:
        f"{RESULTS}/logs/saturation.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(2000),
        runtime=plan.growing(30),
    params:
        settings=plan.saturation_settings(config, MODELS),
        files=lambda wildcards: contents(
            entry["path"] for entry in config["saturation"]["histories"]
        ),
        code=fingerprint("saturation.py"),
    script:
        "../../scripts/saturation.py"


rule saturation_table:
    input:
        law=f"{RESULTS}/saturation/law.parquet",
        points=f"{RESULTS}/saturation/points.parquet",
    output:
        csv=f"{RESULTS}/tables/saturation.csv",
        markdown=f"{RESULTS}/tables/saturation.md",
        html=report(
            f"{RESULTS}/tables/saturation.html",
            caption="../report/saturation_table.rst",
            category="8 Saturation",
            labels={"result": "Saturation: how far above the law models end"},
        ),
        latex=f"{RESULTS}/tables/saturation.tex",
    log:
        f"{RESULTS}/logs/saturation_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(models=COMPARED),
        code=fingerprint("saturation_table.py"),
    script:
        "../../scripts/saturation_table.py"


rule saturation_figure:
    input:
        law=f"{RESULTS}/saturation/law.parquet",
        points=f"{RESULTS}/saturation/points.parquet",
    output:
        f"{RESULTS}/figures/saturation.png",
        report(
            f"{RESULTS}/figures/saturation.svg",
            caption="../report/saturation_figure.rst",
            category="8 Saturation",
            labels={"result": "Saturation: losses and the law"},
        ),
    log:
        f"{RESULTS}/logs/saturation_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(models=COMPARED),
        code=fingerprint("saturation_figure.py"),
    script:
        "../../scripts/saturation_figure.py"
