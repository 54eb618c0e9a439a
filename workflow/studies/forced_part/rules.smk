"""How much of each model's distance from a truth its head forces, whatever enters it, and how much is left.

Needs: the logits of models and truths, and the heads: of the family, of its arms, truncated and retrained ones.
Makes: scores/forced/{model}.parquet; tables/forced.{csv,md,html,tex} and figures/forced.{png,svg,pdf} of the family,
tables/forced_heads of the others; scores/best_head/{model}.parquet and tables/best_head of the family.
"""

from studies.forced_part import plan as forced_part

FORCED = config["metrics"]["forced"]
BEST_HEAD_TRUTHS = FORCED["best_head_truths"] or TRUTHS
FORCED_HEADS = forced_part.scored_models(config)


rule forced:
    input:
        weights=head_of,
        model=LOGITS,
        truths=expand(LOGITS, model=TRUTHS),
    output:
        f"{RESULTS}/scores/forced/{{model}}.parquet",
    wildcard_constraints:
        model=one_of(row["model"] for row in FORCED_HEADS),
    resources:
        **per_attempt(mem_mb=2000, runtime=240),
    params:
        **measured("forced"),
        settings=lambda wildcards: settings(
            rank=forced_part.truncated_to(config, wildcards.model),
            tau=config["metrics"]["tau"],
            per_window=FORCED["per_window"],
            norm_per_window=FORCED["norm_per_window"],
            truths=TRUTHS,
        ),
    script:
        step("measure.py")


if FORCED_FAMILY := [row for row in FORCED_HEADS if row["kind"] == "family"]:

    rule forced_table:
        input:
            scores=scores(["forced"], [row["model"] for row in FORCED_FAMILY]),
        output:
            **table("forced", "0 Findings", "What the head forces, and what it does not"),
            **figure("forced", "0 Findings", "What the head forces, drawn"),
        params:
            settings=settings(
                **config["statistics"],
                title="What the head forces of the distance from a truth, and what it does not.",
                models=FORCED_FAMILY,
            ),
        script:
            "table.py"


if FORCED_OTHERS := [row for row in FORCED_HEADS if row["kind"] != "family"]:

    rule forced_heads_table:
        input:
            scores=scores(["forced"], [row["model"] for row in FORCED_OTHERS]),
        output:
            **table("forced_heads", "8 Small models", "Ways to impose a rank: what these heads force"),
        params:
            settings=settings(
                **config["statistics"],
                title="What the heads of other ways to impose a rank force of the distance from a truth.",
                models=FORCED_OTHERS,
            ),
        script:
            "table.py"


if FORCED_FAMILY and FORCED["best_head_per_window"]:

    rule best_head:
        input:
            weights=head_of,
            forced=f"{RESULTS}/scores/forced/{{model}}.parquet",
            truths=expand(LOGITS, model=BEST_HEAD_TRUTHS),
        output:
            f"{RESULTS}/scores/best_head/{{model}}.parquet",
        wildcard_constraints:
            model=one_of(row["model"] for row in FORCED_FAMILY),
        resources:
            **per_attempt(mem_mb=2000, runtime=120),
        params:
            settings=settings(per_window=FORCED["best_head_per_window"], truths=BEST_HEAD_TRUTHS),
        script:
            "best_head.py"

    rule best_head_table:
        input:
            scores=scores(["best_head"], [row["model"] for row in FORCED_FAMILY]),
        output:
            **table("best_head", "0 Findings", "What a rank forces, and what trained heads add"),
        params:
            settings=settings(**config["statistics"], models=FORCED_FAMILY),
        script:
            "best_head_table.py"
