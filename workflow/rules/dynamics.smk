"""What the models are like along their training, from the snapshots that it kept (Godey et al. 2024).

Needs: windows.parquet, snapshots and weights of what was trained here, the truths' logits.
Makes: dynamics/{model}.parquet and dynamics/spectra/{model}.parquet; tables/along_training.{csv,md,html,tex}; figures
along_training, layers_along_training, head_spectra and oversmoothing_against_loss.{png,svg}.
"""

FOLLOWED = plan.followed(MODELS)


rule dynamics:
    input:
        windows=f"{RESULTS}/windows.parquet",
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
        snapshots=f"{RESULTS}/models/{{model}}/snapshots",
        history=f"{RESULTS}/models/{{model}}/history.parquet",
        truths=expand(f"{RESULTS}/logits/{{truth}}.parquet", truth=TRUTHS),
    output:
        measures=f"{RESULTS}/dynamics/{{model}}.parquet",
        spectra=f"{RESULTS}/dynamics/spectra/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/dynamics/{{model}}.log",
    wildcard_constraints:
        model=one_of(FOLLOWED),
    conda:
        ENVIRONMENT
    threads: config["inference"]["threads"]
    resources:
        gpu=GPUS,
        gpu_job=GPUS,
        mem_mb=plan.growing(4000),
        runtime=plan.growing(60),
    params:
        settings=settings(
            **config["inference"],
            windows=config["dynamics"]["windows"],
            tau=config["metrics"]["tau"],
            truths=TRUTHS,
        ),
        device=lambda wildcards, output: config["device"],
        code=fingerprint("dynamics.py"),
    script:
        "../../scripts/dynamics.py"


rule along_training_table:
    input:
        [f"{RESULTS}/dynamics/{model.name}.parquet" for model in FOLLOWED],
    output:
        csv=f"{RESULTS}/tables/along_training.csv",
        markdown=f"{RESULTS}/tables/along_training.md",
        html=report(
            f"{RESULTS}/tables/along_training.html",
            caption="../report/along_training_table.rst",
            category="8 Saturation",
            labels={"result": "Along training: where the models end"},
        ),
        latex=f"{RESULTS}/tables/along_training.tex",
    log:
        f"{RESULTS}/logs/along_training_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            models=[
                {"model": model.name, "rank": model.rank, "seed": model.seed}
                for model in FOLLOWED
            ]
        ),
        code=fingerprint("along_training_table.py"),
    script:
        "../../scripts/along_training_table.py"


rule along_training_figure:
    input:
        f"{RESULTS}/tables/along_training.csv",
    output:
        f"{RESULTS}/figures/along_training.png",
        report(
            f"{RESULTS}/figures/along_training.svg",
            caption="../report/along_training_figure.rst",
            category="8 Saturation",
            labels={"result": "Along training: loss, head and hidden states"},
        ),
    log:
        f"{RESULTS}/logs/along_training_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        code=fingerprint("along_training_figure.py"),
    script:
        "../../scripts/along_training_figure.py"


rule oversmoothing_against_loss_figure:
    input:
        f"{RESULTS}/tables/along_training.csv",
    output:
        f"{RESULTS}/figures/oversmoothing_against_loss.png",
        report(
            f"{RESULTS}/figures/oversmoothing_against_loss.svg",
            caption="../report/oversmoothing_against_loss.rst",
            category="8 Saturation",
            labels={"result": "Oversmoothing against loss"},
        ),
    log:
        f"{RESULTS}/logs/oversmoothing_against_loss_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        code=fingerprint("oversmoothing_against_loss_figure.py"),
    script:
        "../../scripts/oversmoothing_against_loss_figure.py"


rule layers_along_training_figure:
    input:
        f"{RESULTS}/tables/along_training.csv",
    output:
        f"{RESULTS}/figures/layers_along_training.png",
        report(
            f"{RESULTS}/figures/layers_along_training.svg",
            caption="../report/layers_along_training.rst",
            category="8 Saturation",
            labels={"result": "Along training: the hidden states of every block"},
        ),
    log:
        f"{RESULTS}/logs/layers_along_training_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        code=fingerprint("layers_along_training_figure.py"),
    script:
        "../../scripts/layers_along_training_figure.py"


rule head_spectra_figure:
    input:
        [f"{RESULTS}/dynamics/spectra/{model.name}.parquet" for model in FOLLOWED],
    output:
        f"{RESULTS}/figures/head_spectra.png",
        report(
            f"{RESULTS}/figures/head_spectra.svg",
            caption="../report/head_spectra.rst",
            category="8 Saturation",
            labels={"result": "Along training: singular values of the head"},
        ),
    log:
        f"{RESULTS}/logs/head_spectra_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            models=[{"model": model.name, "rank": model.rank} for model in FOLLOWED]
        ),
        code=fingerprint("head_spectra_figure.py"),
    script:
        "../../scripts/head_spectra_figure.py"
