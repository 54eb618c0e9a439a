"""Every model is run over the windows once; all that follows reads these Parquet files.

Needs: windows.parquet and the weights.
Makes: logits/{model}.parquet and hidden/{model}.parquet; for truncated heads only logits, from stored hidden states.
"""


rule logits:
    input:
        windows=f"{RESULTS}/windows.parquet",
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
    output:
        logits=f"{RESULTS}/logits/{{model}}.parquet",
        hidden=f"{RESULTS}/hidden/{{model}}.parquet",
    params:
        settings=settings(**config["inference"]),
        device=config["device"],
        code=fingerprint("logits.py"),
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.kind != "svd"),
    log:
        f"{RESULTS}/logs/logits/{{model}}.log",
    resources:
        gpu=WANTS_GPU,
        mem_mb=4000,
        runtime=60,
    conda:
        ENVIRONMENT
    script:
        "../../scripts/logits.py"


rule svd_logits:
    input:
        hidden=lambda wildcards: f"{RESULTS}/hidden/{MODELS[wildcards.model].source}.parquet",
        weights=lambda wildcards: f"{RESULTS}/models/{MODELS[wildcards.model].source}/weights.safetensors",
    output:
        f"{RESULTS}/logits/{{model}}.parquet",
    params:
        rank=lambda wildcards: MODELS[wildcards.model].rank,
        code=fingerprint("svd_logits.py"),
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.kind == "svd"),
    log:
        f"{RESULTS}/logs/svd_logits/{{model}}.log",
    resources:
        mem_mb=2000,
        runtime=30,
    conda:
        ENVIRONMENT
    script:
        "../../scripts/svd_logits.py"
