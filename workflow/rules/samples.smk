"""What the models write: each continues the prompt of every window, under each decoding.

Needs: windows.parquet and the weights; for a truncated head those of its source.
Makes: samples/{model}/{decoding}.parquet; truncated heads are sampled from as they are, under `pure` alone (Table H.1).

One job writes all decodings of a model, because starting Python takes longer than sampling in the quick default. The
extra decodings of `samples.decodings` have a job each: adding one leaves the others' samples as they are.
"""

SAMPLES = f"{RESULTS}/samples/{{model}}/{{decoding}}.parquet"
EXTRA = {entry["name"]: entry for entry in config["samples"]["decodings"]}


rule sample:
    input:
        windows=f"{RESULTS}/windows.parquet",
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
    output:
        [SAMPLES.replace("{decoding}", entry["name"]) for entry in config["decodings"]],
    log:
        f"{RESULTS}/logs/sample/{{model}}.log",
    wildcard_constraints:
        model=one_of(OWN),
    conda:
        ENVIRONMENT
    threads: config["inference"]["threads"]
    resources:
        gpu=GPUS,
        mem_mb=lambda wildcards: plan.sampling_memory(config, MODELS[wildcards.model]),
        runtime=240,
    params:
        settings=plan.sampling_settings(config, config["decodings"]),
        rank=None,
        device=lambda wildcards, output: config["device"],
        code=fingerprint("sample.py"),
    script:
        "../../scripts/sample.py"


use rule sample as sample_extra with:
    output:
        SAMPLES,
    log:
        f"{RESULTS}/logs/sample_extra/{{model}}-{{decoding}}.log",
    wildcard_constraints:
        model=one_of(OWN),
        decoding="|".join(EXTRA) or "(?!)",
    params:
        settings=lambda wildcards: plan.sampling_settings(
            config, [EXTRA[wildcards.decoding]]
        ),
        rank=None,
        device=lambda wildcards, output: config["device"],
        code=fingerprint("sample.py"),


use rule sample as sample_svd with:
    input:
        windows=f"{RESULTS}/windows.parquet",
        weights=lambda wildcards: f"{RESULTS}/models/{MODELS[wildcards.model].source}/weights.safetensors",
    output:
        SAMPLES.replace("{decoding}", "pure"),
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.kind == "svd"),
    params:
        settings=plan.sampling_settings(config, [{"name": "pure"}]),
        rank=lambda wildcards: MODELS[wildcards.model].rank,
        device=lambda wildcards, output: config["device"],
        code=fingerprint("sample.py"),
