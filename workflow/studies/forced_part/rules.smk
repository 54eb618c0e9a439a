"""How much of each model's distance from a truth its head forces, whatever enters it, and how much is left.

Needs: the logits of models and truths, and the heads: of the family, of its arms, truncated and retrained ones.
Makes: {text}scores/forced/{model}.parquet; scores/best_head/{model}.parquet of the family.
"""

from studies.forced_part import plan as forced_part

FORCED = config["metrics"]["forced"]
BEST_HEAD_TRUTHS = FORCED["best_head_truths"] or RUN.truths
FORCED_HEADS = forced_part.scored_models(config)
FORCED_FAMILY = [row["model"] for row in FORCED_HEADS if row["kind"] == "family"]


rule forced:
    input:
        weights=head_of,
        model=LOGITS,
        truths=lambda wildcards: list(truths_of(wildcards).values()),
    output:
        SCORES.replace("{metric}", "forced"),
    wildcard_constraints:
        text=one_of(folder for folder, text in RUN.texts.items() if not text.few),
        model=one_of([*(row["model"] for row in FORCED_HEADS), *LEARNERS]),
    resources:
        **per_attempt(mem_mb=2000, runtime=240),
    params:
        **measured("forced"),
        settings=lambda wildcards: settings(
            rank=model_of(wildcards).rank if wildcards.model in RUN.truncated else None,
            tau=config["metrics"]["tau"],
            per_window=FORCED["per_window"],
            norm_per_window=None if wildcards.text else FORCED["norm_per_window"],
            truths=list(truths_of(wildcards)),
        ),
    script:
        step("measure.py")


if FORCED_FAMILY and FORCED["best_head_per_window"]:

    rule best_head:
        input:
            weights=head_of,
            forced=f"{RUN.results}/scores/forced/{{model}}.parquet",
            truths=RUN.of(RUN.logits, BEST_HEAD_TRUTHS),
        output:
            f"{RUN.results}/scores/best_head/{{model}}.parquet",
        wildcard_constraints:
            model=one_of(FORCED_FAMILY),
        resources:
            **per_attempt(mem_mb=2000, runtime=120),
        params:
            settings=settings(per_window=FORCED["best_head_per_window"], truths=BEST_HEAD_TRUTHS),
        script:
            "best_head.py"
