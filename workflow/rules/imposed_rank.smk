"""Ways of imposing a rank: learned, on the gradient alone (Murugan 2026), truncated, retrained (Godey et al. 2024).

Needs: the corpus, weights and hidden states of the full model, logits and scores of the family and of truncated heads.
Makes: heads/{model}/weights.safetensors (A and B, and the LayerNorm's gain where one stands between them) and
history.parquet, logits/{model}.parquet of retrained heads; tables/imposed_rank.{csv,md,html,tex};
figures/imposed_rank.{png,svg,pdf}.
"""

IMPOSED = plan.imposed_rank.rows(config)


rule retrain_head:
    input:
        weights=lambda wildcards: WEIGHTS.format(
            model=RETRAINED[wildcards.model].source
        ),
        training=ancient(READ["train"]),
        validation=ancient(READ["validation"]),
        manifest=READ["manifest"],
    output:
        weights=f"{RESULTS}/heads/{{model}}/weights.safetensors",
        history=f"{RESULTS}/heads/{{model}}/history.parquet",
    wildcard_constraints:
        model=one_of(RETRAINED),
    threads: config["training"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=6000, runtime=240),
    params:
        settings=lambda wildcards: plan.imposed_rank.head_settings(
            config, RETRAINED[wildcards.model]
        ),
        device=DEVICE,
    script:
        step("retrain_head.py")


use rule svd_logits as retrained_logits with:
    input:
        hidden=lambda wildcards: HIDDEN.format(model=RETRAINED[wildcards.model].source),
        weights=f"{RESULTS}/heads/{{model}}/weights.safetensors",
    wildcard_constraints:
        model=one_of(RETRAINED),
    params:
        rank=None,
        states=STATES,


if IMPOSED:

    rule imposed_rank_table:
        input:
            logits=[f"{RESULTS}/logits/{row['model']}.parquet" for row in IMPOSED],
            scores=scores(
                AGAINST_TRUTHS,
                [row["model"] for row in IMPOSED if row["kind"] != "unused"],
            ),
        output:
            **table(
                "imposed_rank",
                category="8 Small models",
                label="Ways to impose a rank: the numbers",
            ),
        params:
            settings=settings(unit=UNIT, **config["statistics"], models=IMPOSED),
        script:
            step("imposed_rank_table.py")

    rule imposed_rank_figure:
        input:
            f"{RESULTS}/tables/imposed_rank.csv",
        output:
            **figure(
                "imposed_rank",
                category="8 Small models",
                label="Ways to impose a rank",
            ),
        params:
            settings=settings(truth=TRUTHS[0]),
        script:
            step("imposed_rank_figure.py")
