"""What heads of some ranks force of a truth over a vocabulary: the best ones found, and trained ones.

Needs: the logits of the first truth, its head, and weights and logits of the members with these ranks.
Makes: vocabularies/{rank}.parquet.
"""

from studies.vocabularies import plan as vocabularies

HEADS_OF_RANK = vocabularies.trained(config)


rule vocabulary_heads:
    input:
        truth=RUN.logits.format(model=vocabularies.truth(config)),
        weights=lambda wildcards: vocabularies.head(RUN, int(wildcards.rank)),
        model=lambda wildcards: (
            RUN.logits.format(model=HEADS_OF_RANK[int(wildcards.rank)]) if int(wildcards.rank) in HEADS_OF_RANK else []
        ),
    output:
        vocabularies.measured(RUN),
    wildcard_constraints:
        rank=one_of(map(str, config["vocabularies"]["ranks"])),
    resources:
        **per_attempt(mem_mb=8000, runtime=240),
    params:
        settings=lambda wildcards: vocabularies.fit_settings(config, int(wildcards.rank)),
    script:
        "measure.py"
