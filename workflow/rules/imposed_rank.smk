"""Three ways to impose a rank: learned from scratch, truncated, retrained on a frozen model (Godey et al. 2024).

Needs: the corpus, weights and hidden states of the full model, logits and scores of the family and of truncated heads.
Makes: heads/{model}/weights.safetensors (A and B, and the LayerNorm's gain where one stands between them) and
history.parquet, logits/{model}.parquet of retrained heads; tables/imposed_rank.{csv,md,html,tex}; figures/imposed_rank.{png,svg}.
"""

IMPOSED = plan.imposed(config)


rule retrain_head:
    input:
        weights=lambda wildcards: f"{RESULTS}/models/{RETRAINED[wildcards.model].source}/weights.safetensors",
        training=ancient(CORPUS["train"]),
        validation=ancient(CORPUS["validation"]),
        manifest=MANIFEST,
    output:
        weights=f"{RESULTS}/heads/{{model}}/weights.safetensors",
        history=f"{RESULTS}/heads/{{model}}/history.parquet",
    log:
        f"{RESULTS}/logs/retrain_head/{{model}}.log",
    wildcard_constraints:
        model=one_of(RETRAINED.values()),
    conda:
        ENVIRONMENT
    threads: config["training"]["threads"]
    resources:
        gpu=GPUS,
        gpu_job=GPUS,
        mem_mb=plan.growing(6000),
        runtime=plan.growing(240),
    params:
        settings=lambda wildcards: plan.retraining(config, RETRAINED[wildcards.model]),
        device=lambda wildcards, output: config["device"],
        code=fingerprint("retrain_head.py"),
    script:
        "../../scripts/retrain_head.py"


use rule svd_logits as retrained_logits with:
    input:
        hidden=lambda wildcards: f"{RESULTS}/hidden/{RETRAINED[wildcards.model].source}.parquet",
        weights=f"{RESULTS}/heads/{{model}}/weights.safetensors",
    log:
        f"{RESULTS}/logs/retrained_logits/{{model}}.log",
    wildcard_constraints:
        model=one_of(RETRAINED.values()),
    params:
        rank=None,
        code=fingerprint("head_logits.py"),


rule imposed_rank_table:
    input:
        logits=[f"{RESULTS}/logits/{row['model']}.parquet" for row in IMPOSED],
        scores=expand(
            f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
            metric=AGAINST_TRUTHS,
            model=[row["model"] for row in IMPOSED],
        ),
    output:
        csv=f"{RESULTS}/tables/imposed_rank.csv",
        markdown=f"{RESULTS}/tables/imposed_rank.md",
        html=report(
            f"{RESULTS}/tables/imposed_rank.html",
            caption="../report/imposed_rank_table.rst",
            category="8 Saturation",
            labels={"result": "Three ways to impose a rank: the numbers"},
        ),
        latex=f"{RESULTS}/tables/imposed_rank.tex",
    log:
        f"{RESULTS}/logs/imposed_rank_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(**config["statistics"], models=IMPOSED),
        code=fingerprint("imposed_rank_table.py"),
    script:
        "../../scripts/imposed_rank_table.py"


rule imposed_rank_figure:
    input:
        f"{RESULTS}/tables/imposed_rank.csv",
    output:
        f"{RESULTS}/figures/imposed_rank.png",
        report(
            f"{RESULTS}/figures/imposed_rank.svg",
            caption="../report/imposed_rank.rst",
            category="8 Saturation",
            labels={"result": "Three ways to impose a rank"},
        ),
    log:
        f"{RESULTS}/logs/imposed_rank_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(truth=TRUTHS[0]),
        code=fingerprint("imposed_rank_figure.py"),
    script:
        "../../scripts/imposed_rank_figure.py"
