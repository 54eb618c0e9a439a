"""Samples: each model continues the prompt of every window, under each decoding.

Needs: windows.parquet and the weights; for a truncated head those of its source.
Makes: samples/{model}/{decoding}.parquet; truncated heads are sampled only under `pure` (Table H.1);
tables/samples.{csv,md,html} (Tables 5.1, 5.2 and G.1 to G.9), beside the human text.

One job writes all decodings of a model, because starting Python takes longer than sampling in the quick default. The
extra decodings of `samples.decodings` have one job each, so that adding one leaves the other samples as they are.
"""


rule sample:
    input:
        vocabulary=VOCABULARY,
        windows=WINDOWS,
        weights=WEIGHTS,
    output:
        [SAMPLES.replace("{decoding}", decoding) for decoding in DECODED],
    wildcard_constraints:
        model=one_of(OWN),
    threads: config["inference"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(runtime=240),
        mem_mb=lambda wildcards, attempt: plan.resources.sampling_memory(config, MODELS[wildcards.model], attempt),
    params:
        settings=plan.samples.sampling_settings(config, config["decodings"]),
        by_name=decoding_code(config["decodings"]),
        rank=None,
        device=DEVICE,
    script:
        step("sample.py")


use rule sample as sample_extra with:
    output:
        SAMPLES,
    wildcard_constraints:
        model=one_of(OWN),
        decoding=one_of(EXTRA),
    params:
        settings=lambda wildcards: plan.samples.sampling_settings(config, [EXTRA[wildcards.decoding]]),
        by_name=lambda wildcards: decoding_code([EXTRA[wildcards.decoding]]),


use rule sample as sample_svd with:
    input:
        vocabulary=VOCABULARY,
        windows=WINDOWS,
        weights=lambda wildcards: WEIGHTS.format(model=MODELS[wildcards.model].source),
    output:
        SAMPLES.replace("{decoding}", "pure"),
    wildcard_constraints:
        model=one_of(TRUNCATED if not TRUNCATED_FROM_HUB else []),
    params:
        settings=plan.samples.sampling_settings(config, [PURE]),
        by_name=decoding_code([PURE]),
        rank=lambda wildcards: MODELS[wildcards.model].rank,


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
                models=[
                    row
                    for model in MODELS.values()
                    if not model.byte_view
                    for row in model_rows({model.name: model}, model.kind)
                ],
            ),
        script:
            step("samples_table.py")
