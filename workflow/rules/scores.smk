"""How far each model's distributions lie from each truth's, per byte, under every decoding.

TBAT needs no truth: it asks which of a model's tokens the truth may not have, given the model's head.

Needs: the logits of the model and of the truths; for TBAT the head, and behind a LayerNorm the hidden states.
Makes: scores/{metric}/{model}.parquet, scores/tbat/{model}.parquet, scores/tbat_approximation/{model}.parquet.
"""

TBAT = config["metrics"]["tbat"]


rule score:
    input:
        model=f"{RESULTS}/logits/{{model}}.parquet",
        truths=expand(f"{RESULTS}/logits/{{truth}}.parquet", truth=TRUTHS),
    output:
        **{metric: f"{RESULTS}/scores/{metric}/{{model}}.parquet" for metric in METRICS},
    log:
        f"{RESULTS}/logs/score/{{model}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        settings=settings(
            tau=config["metrics"]["tau"],
            decodings=config["decodings"],
            truths=TRUTHS,
        ),
        code=fingerprint("score.py"),
    script:
        "../../scripts/score.py"


rule tbat:
    input:
        **(
            {"hidden": f"{RESULTS}/hidden/{{model}}.parquet"}
            if TBAT["condition"] == "tangent"
            else {}
        ),
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
        logits=f"{RESULTS}/logits/{{model}}.parquet",
    output:
        f"{RESULTS}/scores/tbat/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/tbat/{{model}}.log",
    wildcard_constraints:
        model=one_of(OWN),
    conda:
        ENVIRONMENT
    threads: 8
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        settings=settings(
            delta=TBAT["delta"],
            condition=TBAT["condition"],
            mass_tolerance=TBAT["mass_tolerance"],
            decodings=config["decodings"],
        ),
        code=fingerprint("tbat.py"),
    script:
        "../../scripts/tbat.py"


rule tbat_approximation:
    input:
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
        logits=f"{RESULTS}/logits/{{model}}.parquet",
    output:
        f"{RESULTS}/scores/tbat_approximation/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/tbat_approximation/{{model}}.log",
    wildcard_constraints:
        model=one_of(OWN),
    conda:
        ENVIRONMENT
    threads: 8
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        settings=settings(
            delta=TBAT["delta"],
            mass_tolerance=TBAT["mass_tolerance"],
            approximations=TBAT["approximations"],
        ),
        code=fingerprint("tbat_approximation.py"),
    script:
        "../../scripts/tbat_approximation.py"
