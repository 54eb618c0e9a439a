"""What the trunk behind a low rank lacks, and how fast it learns it beside a full trunk stopped at equal loss.

Needs: weights of the family, its plain heads and its narrow gradients; windows, the training split, the truths' logits.
Makes: narrow_trunk/{model}.parquet.
"""

from studies.narrow_trunk import plan as narrow_trunk

TRUNKS = narrow_trunk.trunks(config)


rule learn_on:
    input:
        weights=RUN.weights,
        training=ancient(RUN.read["train"]),
        manifest=RUN.read["manifest"],
        windows=RUN.windows,
        truths=RUN.of(RUN.logits, RUN.truths),
    output:
        narrow_trunk.learned_on(RUN),
    wildcard_constraints:
        model=one_of(row["model"] for row in TRUNKS),
    threads: config["training"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=6000, runtime=240),
    params:
        settings=lambda wildcards: narrow_trunk.learning_settings(config, RUN.models[wildcards.model]),
        device=DEVICE,
    script:
        "measure.py"
