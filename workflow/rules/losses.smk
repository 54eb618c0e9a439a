"""How well the models predict, and how their training went.

Needs: the histories of what was trained here, and logits; the thesis's Table 3.1.
Makes: tables/losses.{csv,md,html,tex} (Table 3.1); figures/losses.{png,svg} (Figure 3.1).
"""

PREDICTORS = [model for model in MODELS.values() if model.kind != "svd"]
TRAINED = [model for model in PREDICTORS if model.settings]


rule losses_table:
    input:
        histories=[
            f"{RESULTS}/models/{model.name}/history.parquet" for model in TRAINED
        ],
        logits=[f"{RESULTS}/logits/{model.name}.parquet" for model in PREDICTORS],
        published=f"{PUBLISHED}/table_3_1.csv",
    output:
        csv=f"{RESULTS}/tables/losses.csv",
        markdown=f"{RESULTS}/tables/losses.md",
        html=report(
            f"{RESULTS}/tables/losses.html",
            caption="../report/losses_table.rst",
            category="3 Models",
            labels={"result": "Table 3.1: losses and accuracies"},
        ),
        latex=f"{RESULTS}/tables/losses.tex",
    log:
        f"{RESULTS}/logs/losses_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            **config["statistics"],
            models=plan.table_rows(config, "family", plan.OF_SCORES)
            + plan.table_rows(config, "truth", plan.OF_SCORES),
        ),
        code=fingerprint("losses_table.py"),
    script:
        "../../scripts/losses_table.py"


rule losses_figure:
    input:
        [f"{RESULTS}/models/{model.name}/history.parquet" for model in TRAINED],
    output:
        f"{RESULTS}/figures/losses.png",
        report(
            f"{RESULTS}/figures/losses.svg",
            caption="../report/losses_figure.rst",
            category="3 Models",
            labels={"result": "Figure 3.1: losses along training"},
        ),
    log:
        f"{RESULTS}/logs/losses_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            models=[
                {"model": model.name, "kind": model.kind, "rank": model.rank}
                for model in TRAINED
            ]
        ),
        code=fingerprint("losses_figure.py"),
    script:
        "../../scripts/losses_figure.py"
