"""Logits of models from the hub, as for the models trained here; samples.smk has their samples.

Needs: the windows of a text and the manifests of `snakemake assets`; for byte views the text before the windows.
Makes: {text}logits/{model}.parquet, with the mass on ids that are not bytes, and but of byte views
{text}hidden/{model}.parquet.
"""


rule hub_logits:
    input:
        **RUN.tokens,
        windows=lambda wildcards: text_of(wildcards).windows,
        manifest=lambda wildcards: RUN.manifest_of.format(**model_of(wildcards).settings),
    output:
        head=head_beside(LOGITS),
        logits=LOGITS,
        hidden=HIDDEN,
    wildcard_constraints:
        text=one_of(OF_ALL_MODELS),
        model=one_of(RUN.from_hub),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=plan.resources.hub_truth_memory(config), runtime=240),
    params:
        settings=lambda wildcards: settings(
            **plan.tokens.inference(config) | model_of(wildcards).settings | text_of(wildcards).inference
        ),
        device=DEVICE,
        by_name=fingerprints(ADAPTERS),
    script:
        step("logits.py")


rule byte_logits:
    input:
        windows=lambda wildcards: text_of(wildcards).windows,
        evaluation=lambda wildcards: [] if text_of(wildcards).few else ancient(RUN.corpus["evaluation"]),
        manifest=lambda wildcards: [] if text_of(wildcards).few else RUN.manifest,
        asset=lambda wildcards: RUN.manifest_of.format(**model_of(wildcards).settings),
    output:
        logits=LOGITS,
    wildcard_constraints:
        text=one_of(OF_ALL_MODELS),
        model=one_of(RUN.byte_views),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        runtime=lambda wildcards, attempt: plan.resources.scaled(
            plan.resources.byte_view_time(config, model_of(wildcards)), attempt
        ),
        mem_mb=lambda wildcards, attempt: plan.resources.byte_view_memory(config, model_of(wildcards), attempt),
    params:
        settings=lambda wildcards: settings(
            **plan.models.byte_view_settings(config, model_of(wildcards))
            | ({"context": 0} if text_of(wildcards).few else {})
        ),
        device=DEVICE,
    script:
        step("byte_logits.py")
