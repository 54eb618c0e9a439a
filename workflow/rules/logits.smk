"""Every model is run over the windows once; all that follows reads these Parquet files.

Needs: windows.parquet and the weights.
Makes: logits/{model}.parquet and hidden/{model}.parquet; for truncated heads only logits, from stored hidden states
(for retrained ones too, in imposed_rank.smk).
"""


rule logits:
    input:
        windows=f"{RESULTS}/windows.parquet",
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
    output:
        logits=f"{RESULTS}/logits/{{model}}.parquet",
        hidden=f"{RESULTS}/hidden/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/logits/{{model}}.log",
    wildcard_constraints:
        model=one_of(OWN),
    conda:
        ENVIRONMENT
    threads: config["inference"]["threads"]
    resources:
        gpu=GPUS,
        gpu_job=GPUS,
        mem_mb=plan.growing(4000),
        runtime=plan.growing(60),
    params:
        settings=settings(**config["inference"]),
        shape=lambda wildcards: plan.shape(MODELS[wildcards.model]),
        device=lambda wildcards, output: config["device"],
        code=fingerprint("logits.py"),
    script:
        "../../scripts/logits.py"


rule svd_logits:
    input:
        hidden=lambda wildcards: f"{RESULTS}/hidden/{MODELS[wildcards.model].source}.parquet",
        weights=lambda wildcards: f"{RESULTS}/models/{MODELS[wildcards.model].source}/weights.safetensors",
    output:
        f"{RESULTS}/logits/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/svd_logits/{{model}}.log",
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.kind == "svd"),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(2000),
        runtime=plan.growing(30),
    params:
        rank=lambda wildcards: MODELS[wildcards.model].rank,
        code=fingerprint("head_logits.py"),
    script:
        "../../scripts/head_logits.py"
