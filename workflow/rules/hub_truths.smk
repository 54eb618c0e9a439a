"""Logits of models from the hub, as for the models trained here; samples.smk has their samples.

Needs: windows.parquet and the manifests of `snakemake assets`; for byte views the text before the windows.
Makes: logits/{model}.parquet, with the mass on ids that are not bytes, and but of byte views hidden/{model}.parquet.
"""


rule hub_logits:
    input:
        **TOKENS,
        windows=WINDOWS,
        manifest=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].settings),
    output:
        head=head_beside(LOGITS),
        logits=LOGITS,
        hidden=HIDDEN,
    wildcard_constraints:
        model=one_of(FROM_HUB),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=plan.resources.hub_truth_memory(config), runtime=240),
    params:
        settings=lambda wildcards: settings(**plan.tokens.inference(config) | MODELS[wildcards.model].settings),
        device=DEVICE,
        by_name=fingerprints(ADAPTERS),
    script:
        step("logits.py")


rule byte_logits:
    input:
        windows=WINDOWS,
        evaluation=ancient(CORPUS["evaluation"]),
        manifest=MANIFEST,
        asset=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].settings),
    output:
        logits=LOGITS,
    wildcard_constraints:
        model=one_of(BYTE_VIEWS),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        runtime=lambda wildcards, attempt: plan.resources.scaled(
            plan.resources.byte_view_time(config, MODELS[wildcards.model]), attempt
        ),
        mem_mb=lambda wildcards, attempt: plan.resources.byte_view_memory(config, MODELS[wildcards.model], attempt),
    params:
        settings=lambda wildcards: plan.models.byte_view_settings(config, MODELS[wildcards.model]),
        device=DEVICE,
    script:
        step("byte_logits.py")
