"""Distance of each model's distributions from each truth's, per byte, under every decoding.

TBAT needs no truth: it is the mass on tokens that the truth may exclude, given the model's head.

Needs: the logits of the model and of the truths; for TBAT the head, and behind a LayerNorm the hidden states.
Makes: scores/{metric}/{model}.parquet, scores/tbat/{model}.parquet, scores/tbat_approximation/{model}.parquet; of
members from the hub side_by_side/{model}.parquet.
"""

OF_TBAT = {key: TBAT[key] for key in ("delta", "mass_tolerance", "per_window", "windows")}
SCORING = plan.resources.scoring(config)
FETCHED = [name for name in FAMILY if name in (*FROM_HUB, *BYTE_VIEWS)]


rule score:
    input:
        model=LOGITS,
        truths=lambda wildcards: expand(LOGITS, model=truths_of(wildcards.model)),
    output:
        **{metric: f"{RESULTS}/scores/{metric}/{{model}}.parquet" for metric in OF_DISTRIBUTIONS},
    resources:
        **per_attempt(mem_mb=2000, runtime=60),
        gpu=SCORING["gpus"],
        gpu_job=SCORING["gpus"],
    params:
        device=lambda wildcards, output: SCORING["device"],
        by_name=decoding_code(config["decodings"], *SCORING["code"]),
        settings=lambda wildcards: settings(
            tau=config["metrics"]["tau"], decodings=config["decodings"], truths=truths_of(wildcards.model)
        ),
    script:
        step("score.py")


rule tbat:
    input:
        **({"hidden": HIDDEN} if TBAT["condition"] == "tangent" else {}),
        weights=head_of,
        logits=LOGITS,
    output:
        f"{RESULTS}/scores/tbat/{{model}}.parquet",
    wildcard_constraints:
        model=one_of(WITH_HEAD),
    threads: 8
    resources:
        **per_attempt(mem_mb=2000, runtime=240),
    params:
        **measured("tbat", config["decodings"]),
        settings=settings(**OF_TBAT, condition=TBAT["condition"], decodings=config["decodings"]),
    script:
        step("measure.py")


rule tbat_approximation:
    input:
        weights=head_of,
        logits=LOGITS,
    output:
        f"{RESULTS}/scores/tbat_approximation/{{model}}.parquet",
    wildcard_constraints:
        model=one_of(WITH_HEAD),
    threads: 8
    resources:
        **per_attempt(mem_mb=2000, runtime=240),
    params:
        **measured("tbat_approximation"),
        settings=settings(**OF_TBAT, approximations=TBAT["approximations"]),
    script:
        step("measure.py")


rule side_by_side:
    input:
        model=LOGITS,
        truths=lambda wildcards: expand(LOGITS, model=truths_of(wildcards.model)),
    output:
        f"{RESULTS}/side_by_side/{{model}}.parquet",
    wildcard_constraints:
        model=one_of(FETCHED),
    resources:
        **per_attempt(mem_mb=2000, runtime=60),
    params:
        **measured("side_by_side"),
        settings=lambda wildcards: settings(truths=truths_of(wildcards.model)),
    script:
        step("measure.py")
