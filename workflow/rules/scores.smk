"""Distance of each model's distributions from each truth's, per byte, under every decoding.

TBAT needs no truth: it is the mass on tokens that the truth may exclude, given the model's head.

Needs: the logits of the model and of the truths; for TBAT the head, and behind a LayerNorm the hidden states.
Makes: {text}scores/{metric}/{model}.parquet, {text}scores/tbat/{model}.parquet,
scores/tbat_approximation/{model}.parquet; of members from the hub side_by_side/{model}.parquet; with several seeds
tables/window_means.parquet, for intervals over seeds and text.
"""

OF_TBAT = {key: TBAT[key] for key in ("delta", "mass_tolerance", "per_window", "windows")}
SCORES = RUN.on_any_text(f"{RUN.results}/scores/{{metric}}/{{model}}.parquet")
SCORING = plan.resources.scoring(config)
scoring_gpus = lambda wildcards: 0 if text_of(wildcards).few else SCORING["gpus"]
decodings_of = lambda wildcards: text_of(wildcards).decodings or config["decodings"]


rule score:
    input:
        model=LOGITS,
        truths=lambda wildcards: list(truths_of(wildcards).values()),
    output:
        **{metric: SCORES.replace("{metric}", metric) for metric in OF_DISTRIBUTIONS},
    resources:
        **per_attempt(mem_mb=2000, runtime=60),
        gpu=scoring_gpus,
        gpu_job=scoring_gpus,
    params:
        device=lambda wildcards, output: "cpu" if text_of(wildcards).few else SCORING["device"],
        by_name=lambda wildcards: decoding_code(decodings_of(wildcards), *SCORING["code"]),
        settings=lambda wildcards: settings(
            tau=config["metrics"]["tau"], decodings=decodings_of(wildcards), truths=list(truths_of(wildcards))
        ),
    script:
        step("score.py")


rule tbat:
    input:
        **({"hidden": HIDDEN} if TBAT["condition"] == "tangent" else {}),
        weights=head_of,
        logits=LOGITS,
    output:
        SCORES.replace("{metric}", "tbat"),
    wildcard_constraints:
        text=one_of(OF_ALL_MODELS),
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
        logits=RUN.logits,
    output:
        f"{RUN.results}/scores/tbat_approximation/{{model}}.parquet",
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
        model=RUN.logits,
        truths=lambda wildcards: list(truths_of(wildcards).values()),
    output:
        f"{RUN.results}/side_by_side/{{model}}.parquet",
    wildcard_constraints:
        model=one_of(RUN.fetched),
    resources:
        **per_attempt(mem_mb=2000, runtime=60),
    params:
        **measured("side_by_side"),
        settings=lambda wildcards: settings(truths=list(truths_of(wildcards))),
    script:
        step("measure.py")


if RUN.replicated:

    rule window_means:
        input:
            scores=RUN.scores(AGAINST_TRUTHS, [row["model"] for row in RUN.replicated]),
            tbat=RUN.scores(["tbat"], [row["model"] for row in RUN.replicated if row["model"] in RUN.linear]),
        output:
            RUN.window_means,
        params:
            settings=settings(models=RUN.replicated),
        script:
            step("window_means.py")
