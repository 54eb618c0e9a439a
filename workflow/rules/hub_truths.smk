"""Truths from the hub: what the rules of logits and samples do for the models trained here.

Needs: windows.parquet and the manifests of `snakemake assets`.
Makes: logits/{model}.parquet, with the mass on ids that are no byte, and hidden/{model}.parquet;
samples/{model}/{decoding}.parquet.
"""


rule hub_logits:
    input:
        windows=f"{RESULTS}/windows.parquet",
        manifest=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].hub),
    output:
        logits=f"{RESULTS}/logits/{{model}}.parquet",
        hidden=f"{RESULTS}/hidden/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/hub_logits/{{model}}.log",
    wildcard_constraints:
        model=one_of(FOREIGN),
    conda:
        ENVIRONMENT
    threads: config["inference"]["threads"]
    resources:
        gpu=GPUS,
        gpu_job=GPUS,
        mem_mb=plan.growing(plan.foreign_memory(config)),
        runtime=plan.growing(240),
    params:
        settings=lambda wildcards: settings(
            **config["inference"] | MODELS[wildcards.model].hub
        ),
        device=lambda wildcards, output: config["device"],
        adapters=fingerprint("oversmoothing/truths/load.py"),
        code=fingerprint("logits.py"),
    script:
        "../../scripts/logits.py"


rule hub_sample:
    input:
        windows=f"{RESULTS}/windows.parquet",
        manifest=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].hub),
    output:
        [SAMPLES.replace("{decoding}", entry["name"]) for entry in config["decodings"]],
    log:
        f"{RESULTS}/logs/hub_sample/{{model}}.log",
    wildcard_constraints:
        model=one_of(FOREIGN),
    conda:
        ENVIRONMENT
    threads: config["inference"]["threads"]
    resources:
        gpu=GPUS,
        gpu_job=GPUS,
        mem_mb=plan.growing(plan.foreign_memory(config)),
        runtime=plan.growing(720),
    params:
        settings=lambda wildcards: plan.sampling_settings(
            config, config["decodings"], MODELS[wildcards.model]
        ),
        device=lambda wildcards, output: config["device"],
        adapters=fingerprint("oversmoothing/truths/load.py"),
        code=fingerprint("sample.py"),
    script:
        "../../scripts/sample.py"


use rule hub_sample as hub_sample_extra with:
    output:
        SAMPLES,
    log:
        f"{RESULTS}/logs/hub_sample_extra/{{model}}-{{decoding}}.log",
    wildcard_constraints:
        model=one_of(FOREIGN),
        decoding="|".join(EXTRA) or "(?!)",
    params:
        settings=lambda wildcards: plan.sampling_settings(
            config, [EXTRA[wildcards.decoding]], MODELS[wildcards.model]
        ),
        device=lambda wildcards, output: config["device"],
        adapters=fingerprint("oversmoothing/truths/load.py"),
        code=fingerprint("sample.py"),
