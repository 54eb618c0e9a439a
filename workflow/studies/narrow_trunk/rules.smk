"""What the trunk behind a low rank lacks, and how fast it learns it beside a full trunk stopped at equal loss.

Needs: weights of the family, its plain heads and its narrow gradients; windows, the training split, the truths' logits.
Makes: narrow_trunk/{model}.parquet; tables/narrow_trunk.{csv,md,html,tex}, figures/narrow_trunk.{png,svg,pdf}.
"""

from studies.narrow_trunk import plan as narrow_trunk

TRUNKS = narrow_trunk.trunks(config)


rule learn_on:
    input:
        weights=WEIGHTS,
        training=ancient(READ["train"]),
        manifest=READ["manifest"],
        windows=WINDOWS,
        truths=expand(LOGITS, model=TRUTHS),
    output:
        f"{RESULTS}/narrow_trunk/{{model}}.parquet",
    wildcard_constraints:
        model=one_of(row["model"] for row in TRUNKS),
    threads: config["training"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=6000, runtime=240),
    params:
        settings=lambda wildcards: narrow_trunk.learning_settings(config, MODELS[wildcards.model]),
        device=DEVICE,
    script:
        "measure.py"


if TRUNKS:

    rule narrow_trunk_table:
        input:
            learned_on=[f"{RESULTS}/narrow_trunk/{row['model']}.parquet" for row in TRUNKS],
        output:
            **table("narrow_trunk", "0 Findings", "What the trunk behind a low rank lacks: the numbers"),
            **figure("narrow_trunk", "0 Findings", "What the trunk behind a low rank lacks"),
        params:
            settings=settings(models=TRUNKS, unit=UNIT),
        script:
            "show.py"
