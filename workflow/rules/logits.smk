"""Every model is run over each text once; all later rules read these Parquet files.

Needs: the windows of the text and the weights.
Makes: {text}logits/{model}.parquet and {text}hidden/{model}.parquet; for truncated heads only logits, from stored
hidden states (for heads that studies make, too). Over tokens a file of logits holds states, and
logits/{model}.head.safetensors the head from which they are rebuilt.

`{text}` is the folder of a text (`plan/texts.py`), nothing for the windows of the corpus. So one rule serves the texts of
studies, too. On a cluster a prompt of one position takes a job, because a rule cannot be local for one text alone.
"""

LOGITS, HIDDEN = RUN.on_any_text(RUN.logits), RUN.on_any_text(RUN.hidden)


rule logits:
    input:
        windows=lambda wildcards: text_of(wildcards).windows,
        weights=lambda wildcards: text_of(wildcards).weights.format(model=wildcards.model),
    output:
        head=head_beside(LOGITS),
        logits=LOGITS,
        hidden=HIDDEN,
    wildcard_constraints:
        model=one_of([*RUN.own, *LEARNERS]),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=4000, runtime=60),
    params:
        settings=lambda wildcards: settings(**plan.tokens.inference(config) | text_of(wildcards).inference),
        shape=lambda wildcards: model_of(wildcards).shape,
        device=DEVICE,
    script:
        step("logits.py")


rule svd_logits:
    input:
        hidden=lambda wildcards: HIDDEN.format(text=wildcards.text, model=model_of(wildcards).source),
        weights=head_of,
    output:
        head=head_beside(LOGITS),
        logits=LOGITS,
    wildcard_constraints:
        text=one_of(OF_ALL_MODELS),
        model=one_of([*RUN.truncated, *RUN.of_studies]),
    resources:
        **per_attempt(mem_mb=12_000 if config["svd_of"] else 2000, runtime=30),  # singular vectors in float64
    params:
        rank=lambda wildcards: None if wildcards.model in RUN.of_studies else model_of(wildcards).rank,
        states=STATES,
    script:
        step("head_logits.py")
