"""What holds across seeds: levels and steps by rank, and the floor, what two models that differ by chance alone show.

Needs: scores of the family and its arms against the truths, and their means by window; the logits of the full models and of the truths.
Makes: scores/across_seeds/{metric}/{model}.parquet, tables/across_seeds.{csv,md,html,tex},
figures/across_seeds.{png,svg,pdf}.
"""

from studies.across_seeds import plan as across_seeds

EQUALS = across_seeds.equals(config)
OF_EQUALS = f"{RESULTS}/scores/across_seeds/{{metric}}/{{model}}.parquet"


use rule score as scores_of_equals with:
    input:
        model=LOGITS,
        truths=lambda wildcards: [LOGITS.format(model=name) for name in across_seeds.others(EQUALS, wildcards.model)],
    output:
        **{metric: OF_EQUALS.replace("{metric}", metric) for metric in AGAINST_TRUTHS},
    wildcard_constraints:
        model=one_of(name for models in EQUALS.values() for name in models),
    params:
        by_name=decoding_code([PURE], *SCORING["code"]),
        settings=lambda wildcards: settings(
            tau=config["metrics"]["tau"], decodings=[PURE], truths=across_seeds.others(EQUALS, wildcards.model)
        ),


if REPLICATED:

    rule across_seeds_table:
        input:
            scores=scores(["tto"], [row["model"] for row in REPLICATED]),
            windows=WINDOW_MEANS,
            equals=expand(
                OF_EQUALS, metric=AGAINST_TRUTHS, model=[name for models in EQUALS.values() for name in models]
            ),
        output:
            **table("across_seeds", "8 Small models", "Across seeds: the numbers"),
            **figure("across_seeds", "8 Small models", "Across seeds"),
        params:
            settings=settings(models=REPLICATED, equals=EQUALS),
        script:
            "show.py"
