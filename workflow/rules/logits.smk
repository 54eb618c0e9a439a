"""Every model is run over the windows once; all later rules read these Parquet files.

Needs: windows.parquet and the weights.
Makes: logits/{model}.parquet and hidden/{model}.parquet; for truncated heads only logits, from stored hidden states
(for retrained ones too, in imposed_rank.smk).
"""


rule logits:
    input:
        windows=WINDOWS,
        weights=WEIGHTS,
    output:
        logits=LOGITS,
        hidden=HIDDEN,
    wildcard_constraints:
        model=one_of(OWN),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=4000, runtime=60),
    params:
        settings=settings(**config["inference"]),
        shape=lambda wildcards: MODELS[wildcards.model].shape,
        device=DEVICE,
    script:
        "../../scripts/logits.py"


rule svd_logits:
    input:
        hidden=lambda wildcards: HIDDEN.format(model=MODELS[wildcards.model].source),
        weights=lambda wildcards: WEIGHTS.format(model=MODELS[wildcards.model].source),
    output:
        LOGITS,
    wildcard_constraints:
        model=one_of(names(MODELS, "svd")),
    resources:
        **per_attempt(mem_mb=2000, runtime=30),
    params:
        rank=lambda wildcards: MODELS[wildcards.model].rank,
    script:
        "../../scripts/head_logits.py"
