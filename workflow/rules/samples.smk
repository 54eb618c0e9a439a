"""Samples: each model continues the prompt of every window, under each decoding.

Needs: windows.parquet and the weights, or the manifest of a model from the hub; for a truncated head its source's.
Makes: samples/{model}/{decoding}.parquet; truncated heads are sampled only under `pure` (Table H.1);
tables/samples.{csv,md,html} (Tables 5.1, 5.2 and G.1 to G.9), beside the human text.

One job writes all decodings of a model, because starting Python takes longer than sampling in the quick default. The
extra decodings of `samples.decodings` have one job each, so that adding one leaves the other samples as they are.
"""


rule sample:
    input:
        vocabulary=VOCABULARY,
        windows=WINDOWS,
        weights=lambda wildcards: [] if is_from_hub(wildcards) else WEIGHTS.format(model=source_of(wildcards).name),
        manifest=lambda wildcards: MANIFEST_OF.format(**source_of(wildcards).settings) if is_from_hub(wildcards) else [],
        tokenizer=lambda wildcards: TOKENS["tokenizer"] if is_from_hub(wildcards) else [],
    output:
        [SAMPLES.replace("{decoding}", decoding) for decoding in DECODED],
    wildcard_constraints:
        model=one_of([*OWN, *FROM_HUB]),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        runtime=lambda wildcards, attempt: plan.resources.scaled(720 if is_from_hub(wildcards) else 240, attempt),
        mem_mb=lambda wildcards, attempt: plan.resources.sampling_memory(config, source_of(wildcards), attempt),
    params:
        settings=lambda wildcards: plan.samples.sampling_settings(config, config["decodings"], source_of(wildcards)),
        by_name=lambda wildcards: sampling_code(config["decodings"], wildcards),
        rank=lambda wildcards: MODELS[wildcards.model].rank if wildcards.model in TRUNCATED else None,
        device=DEVICE,
    script:
        step("sample.py")


use rule sample as sample_extra with:
    output:
        SAMPLES,
    wildcard_constraints:
        model=one_of([*OWN, *FROM_HUB]),
        decoding=one_of(EXTRA),
    params:
        settings=lambda wildcards: plan.samples.sampling_settings(
            config, [EXTRA[wildcards.decoding]], source_of(wildcards)
        ),
        by_name=lambda wildcards: sampling_code([EXTRA[wildcards.decoding]], wildcards),


use rule sample as sample_svd with:
    output:
        SAMPLES.replace("{decoding}", "pure"),
    wildcard_constraints:
        model=one_of(TRUNCATED),
    params:
        settings=lambda wildcards: plan.samples.sampling_settings(config, [PURE], source_of(wildcards)),
        by_name=lambda wildcards: sampling_code([PURE], wildcards),


if JUDGED:

    rule samples_table:
        input:
            windows=WINDOWS,
            samples=[
                f"{RESULTS}/samples/{model}/{decoding}.parquet"
                for model, decodings in JUDGED.items()
                for decoding in decodings
            ],
        output:
            **table("samples", "5 Samples", "Tables 5.1, 5.2, G.1 to G.9: samples", latex=False),
        params:
            settings=settings(
                title="Samples by rank of what enters the LM head, and by decoding (Tables 5.1, 5.2 and G.1 to G.9)",
                show=config["samples"]["show"],
                models=[model.facts for model in MODELS.values() if not isinstance(model, ByBytes)],
            ),
        script:
            step("samples_table.py")
