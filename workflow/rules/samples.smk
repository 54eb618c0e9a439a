"""Samples: each model continues the prompt of every window, under each decoding.

Needs: windows.parquet and the weights, or the manifest of a model from the hub; for a truncated head its source's.
Makes: samples/{model}/{decoding}.parquet; truncated heads are sampled only under `pure` (Table H.1).

One job writes all decodings of a model, because starting Python takes longer than sampling in the quick default. The
extra decodings of `samples.decodings` have one job each, so that adding one leaves the other samples as they are.
"""


def rule_of_samples(rule_name, output, models, decodings):
    """The rule of some samples; a function, so that each rule keeps its own decodings."""

    rule:
        name:
            rule_name
        input:
            vocabulary=RUN.vocabulary,
            windows=RUN.windows,
            weights=lambda wildcards: (
                [] if is_from_hub(wildcards) else RUN.weights.format(model=source_of(wildcards).name)
            ),
            manifest=lambda wildcards: (
                RUN.manifest_of.format(**source_of(wildcards).settings) if is_from_hub(wildcards) else []
            ),
            tokenizer=lambda wildcards: RUN.tokens["tokenizer"] if is_from_hub(wildcards) else [],
        output:
            output,
        wildcard_constraints:
            model=one_of(models),
            decoding=one_of(EXTRA),
        threads: config["inference"]["threads"]
        resources:
            **ON_GPU,
            runtime=lambda wildcards, attempt: plan.resources.scaled(720 if is_from_hub(wildcards) else 240, attempt),
            mem_mb=lambda wildcards, attempt: plan.resources.sampling_memory(config, source_of(wildcards), attempt),
        params:
            settings=lambda wildcards: plan.samples.sampling_settings(
                config, decodings(wildcards), source_of(wildcards)
            ),
            by_name=lambda wildcards: sampling_code(decodings(wildcards), wildcards),
            rank=lambda wildcards: model_of(wildcards).rank if wildcards.model in RUN.truncated else None,
            device=DEVICE,
        script:
            step("sample.py")


WHOLE = [*RUN.own, *RUN.from_hub]  # models whose head is their own
of_decoding = lambda name: RUN.samples.replace("{decoding}", name)
rule_of_samples("sample", [*map(of_decoding, RUN.decoded)], WHOLE, lambda wildcards: config["decodings"])
rule_of_samples("sample_extra", RUN.samples, WHOLE, lambda wildcards: [EXTRA[wildcards.decoding]])
rule_of_samples("sample_svd", of_decoding("pure"), RUN.truncated, lambda wildcards: [PURE])
