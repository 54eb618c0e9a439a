"""Findings as claims that can fail: do they hold in this run, and on the thesis's own printed means?

Needs: scores, qualities, losses, logits, unargmaxable classes, effective ranks and costs; the tables of saturation; the
thesis's tables (PUBLISHED and AGAINST_TRUTHS from tables.smk, TRAINED and PREDICTORS from losses.smk).
Makes: tables/claims.{csv,md,html,tex}.
"""

FAMILY = plan.names(MODELS, "family")


rule claims_table:
    input:
        by_model=[
            *expand(
                f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
                metric=[*AGAINST_TRUTHS, "entropy_difference", "tbat"],
                model=FAMILY,
            ),
            *expand(
                f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
                metric=AGAINST_TRUTHS,
                model=plan.names(MODELS, "svd"),
            ),
            *expand(
                f"{RESULTS}/{{what}}/{{model}}.parquet",
                what=["quality", "argmaxability", "ranks"],
                model=FAMILY,
            ),
            *[f"{RESULTS}/logits/{model.name}.parquet" for model in PREDICTORS],
            *[
                f"{RESULTS}/logits/{name}.parquet"
                for name in plan.names(RETRAINED, "retrained")
            ],
        ],
        histories=[
            f"{RESULTS}/models/{model.name}/history.parquet" for model in TRAINED
        ],
        human=f"{RESULTS}/human_quality.parquet",
        windows=f"{RESULTS}/windows.parquet",
        cost=f"{RESULTS}/tables/metric_cost.csv",
        saturation=[
            f"{RESULTS}/tables/language_dimensionality.csv",
            *([f"{RESULTS}/tables/along_training.csv"] if FOLLOWED else []),
            *([f"{RESULTS}/tables/saturation.csv"] if COMPARED else []),
        ],
        published=expand(
            f"{PUBLISHED}/table_{{table}}.csv",
            table=[
                "3_1",
                "5_3",
                "6_1",
                "6_2",
                "6_3",
                "7_1",
                "7_2",
                "7_3",
                "b",
                "e_7",
                "e_8",
                "f_1",
                "i_1",
            ],
        ),
    output:
        csv=f"{RESULTS}/tables/claims.csv",
        markdown=f"{RESULTS}/tables/claims.md",
        html=report(
            f"{RESULTS}/tables/claims.html",
            caption="../report/claims.rst",
            category="0 Findings",
            labels={"result": "What the thesis says, and whether it holds"},
        ),
        latex=f"{RESULTS}/tables/claims.tex",
    log:
        f"{RESULTS}/logs/claims_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            **config["statistics"],
            **config["claims"],
            decodings=DECODED,
            models=plan.compared_models(config),
        ),
        code=fingerprint("claims_table.py"),
    script:
        "../../scripts/claims_table.py"
