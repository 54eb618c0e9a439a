"""Every model is run over the windows once; all later rules read these Parquet files.

Needs: windows.parquet and the weights.
Makes: logits/{model}.parquet and hidden/{model}.parquet; for truncated heads only logits, from stored hidden states
(for heads that studies make, too). Over tokens a file of logits holds states, and logits/{model}.head.safetensors
the head from which they are rebuilt.
"""


rule logits:
    input:
        windows=WINDOWS,
        weights=WEIGHTS,
    output:
        head=head_beside(LOGITS),
        logits=LOGITS,
        hidden=HIDDEN,
    wildcard_constraints:
        model=one_of(OWN),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=4000, runtime=60),
    params:
        settings=settings(**plan.tokens.inference(config)),
        shape=lambda wildcards: model_of(wildcards).shape,
        device=DEVICE,
    script:
        step("logits.py")


rule svd_logits:
    input:
        hidden=lambda wildcards: HIDDEN.format(model=MODELS[wildcards.model].source),
        weights=head_of,
    output:
        head=head_beside(LOGITS),
        logits=LOGITS,
    wildcard_constraints:
        model=one_of(TRUNCATED),
    resources:
        **per_attempt(mem_mb=12_000 if config["svd_of"] else 2000, runtime=30),  # singular vectors in float64
    params:
        rank=lambda wildcards: MODELS[wildcards.model].rank,
        states=STATES,
    script:
        step("head_logits.py")
