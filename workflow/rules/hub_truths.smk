"""Logits and samples of models from the hub, as for the models trained here; of byte views their logits alone.

Needs: windows.parquet and the manifests of `snakemake assets`; for byte views the text before the windows.
Makes: logits/{model}.parquet, with the mass on ids that are not bytes, and hidden/{model}.parquet;
samples/{model}/{decoding}.parquet.
"""


rule hub_logits:
    input:
        **TOKENS,
        windows=WINDOWS,
        manifest=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].hub),
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
        settings=lambda wildcards: settings(**plan.tokens.inference(config) | MODELS[wildcards.model].hub),
        device=DEVICE,
        by_name=fingerprints(ADAPTERS),
    script:
        step("logits.py")


rule byte_logits:
    input:
        windows=WINDOWS,
        evaluation=ancient(CORPUS["evaluation"]),
        manifest=MANIFEST,
        asset=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].hub),
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


use rule sample as hub_sample with:
    input:
        **TOKENS,
        windows=WINDOWS,
        manifest=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].hub),
    wildcard_constraints:
        model=one_of(FROM_HUB),
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=plan.resources.hub_truth_memory(config), runtime=720),
    params:
        settings=lambda wildcards: plan.samples.sampling_settings(config, config["decodings"], MODELS[wildcards.model]),
        by_name=decoding_code(config["decodings"], ADAPTERS),


use rule hub_sample as hub_sample_extra with:
    output:
        SAMPLES,
    wildcard_constraints:
        model=one_of(FROM_HUB),
        decoding=one_of(EXTRA),
    params:
        settings=lambda wildcards: plan.samples.sampling_settings(
            config, [EXTRA[wildcards.decoding]], MODELS[wildcards.model]
        ),
        by_name=lambda wildcards: decoding_code([EXTRA[wildcards.decoding]], ADAPTERS),


use rule hub_sample as hub_sample_svd with:
    input:
        **TOKENS,
        windows=WINDOWS,
        manifest=lambda wildcards: MANIFEST_OF.format(**MODELS[MODELS[wildcards.model].source].hub),
    output:
        SAMPLES.replace("{decoding}", "pure"),
    wildcard_constraints:
        model=one_of(TRUNCATED_FROM_HUB),
    params:
        settings=lambda wildcards: plan.samples.sampling_settings(
            config, [PURE], MODELS[MODELS[wildcards.model].source]
        ),
        rank=lambda wildcards: MODELS[wildcards.model].rank,
        by_name=decoding_code([PURE], ADAPTERS),
