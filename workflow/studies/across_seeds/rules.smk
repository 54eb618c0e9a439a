"""What holds across seeds: levels and steps by rank, and the floor, what two models that differ by chance alone show.

Needs: the logits of the full models and of the truths.
Makes: scores/across_seeds/{metric}/{model}.parquet.
"""

from studies.across_seeds import plan as across_seeds

EQUALS = across_seeds.equals(config)


use rule score as scores_of_equals with:
    input:
        model=RUN.logits,
        truths=lambda wildcards: RUN.of(RUN.logits, across_seeds.others(EQUALS, wildcards.model)),
    output:
        **{metric: across_seeds.scores(RUN, metric) for metric in AGAINST_TRUTHS},
    wildcard_constraints:
        model=one_of(name for models in EQUALS.values() for name in models),
    params:
        by_name=decoding_code([PURE], *SCORING["code"]),
        settings=lambda wildcards: settings(
            tau=config["metrics"]["tau"], decodings=[PURE], truths=across_seeds.others(EQUALS, wildcards.model)
        ),
