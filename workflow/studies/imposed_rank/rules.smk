"""Ways of imposing a rank: learned, on the gradient alone (Murugan 2026), truncated, retrained (Godey et al. 2024).

Needs: the corpus, weights and hidden states of the models whose trunks are taken, logits and scores of the family, its
arms and truncated heads.
Makes: heads/{model}/weights.safetensors (A and B, and the LayerNorm's gain where one stands between them; or a full
head) and history.parquet, logits/{model}.parquet of retrained heads;
tables/imposed_rank.{csv,md,html,tex}; figures/imposed_rank.{png,svg,pdf}.
"""

from studies.imposed_rank import plan as imposed_rank

IMPOSED = imposed_rank.rows(config)
RETRAINED = imposed_rank.models(config)


rule retrain_head:
    input:
        weights=lambda wildcards: WEIGHTS.format(model=RETRAINED[wildcards.model].source),
        training=ancient(READ["train"]),
        validation=ancient(READ["validation"]),
        manifest=READ["manifest"],
    output:
        weights=HEADS,
        history=f"{RESULTS}/heads/{{model}}/history.parquet",
    wildcard_constraints:
        model=one_of(RETRAINED),
    threads: config["training"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=6000, runtime=240),
    params:
        settings=lambda wildcards: imposed_rank.head_settings(config, RETRAINED[wildcards.model]),
        device=DEVICE,
    script:
        f"{workflow.basedir}/studies/imposed_rank/retrain.py"  # absolute, for rules of other studies that use this one


use rule svd_logits as retrained_logits with:
    input:
        hidden=lambda wildcards: HIDDEN.format(model=RETRAINED[wildcards.model].source),
        weights=HEADS,
    wildcard_constraints:
        model=one_of(RETRAINED),
    params:
        rank=None,
        states=STATES,


if IMPOSED:

    rule imposed_rank_table:
        input:
            logits=[LOGITS.format(model=row["model"]) for row in IMPOSED],
            scores=scores(AGAINST_TRUTHS, [row["model"] for row in IMPOSED]),
        output:
            **table("imposed_rank", "8 Small models", "Ways to impose a rank: the numbers"),
            **figure("imposed_rank", "8 Small models", "Ways to impose a rank"),
        params:
            settings=settings(unit=UNIT, **config["statistics"], models=IMPOSED, truth=TRUTHS[0]),
        script:
            "show.py"
