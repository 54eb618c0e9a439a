"""What heads of some ranks force of a truth over a vocabulary: the best ones found, and trained ones.

Needs: the logits of the first truth whose head is known, that head, and weights and logits of members with these ranks.
Makes: dimensions_needed/{rank}.parquet.
"""

from studies.dimensions_needed import plan as dimensions_needed

VOCABULARY_RANKS = config["dimensions_needed"]["ranks"]
HEADS_OF_RANK = dimensions_needed.trained(config)


if VOCABULARY_RANKS:

    rule vocabulary_heads:
        input:
            truth=RUN.logits.format(model=dimensions_needed.truth(config).name),
            weights=lambda wildcards: dimensions_needed.head(RUN, int(wildcards.rank)),
            model=lambda wildcards: RUN.of(
                RUN.logits, [HEADS_OF_RANK[rank] for rank in [int(wildcards.rank)] if rank in HEADS_OF_RANK]
            ),
            span=[dimensions_needed.truth_head(RUN)] if config["dimensions_needed"]["within_truth"] else [],
        output:
            dimensions_needed.measured(RUN),
        wildcard_constraints:
            rank=one_of(map(str, VOCABULARY_RANKS)),
        resources:
            **per_attempt(mem_mb=8000, runtime=240),
        params:
            settings=lambda wildcards: dimensions_needed.fit_settings(config, int(wildcards.rank)),
        script:
            "measure.py"
