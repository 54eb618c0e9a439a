"""Expressivity or optimisation: what a rank costs on the logits, on the gradient or on both, paired by seed.

Needs: tables/imposed_rank.csv, TBAT and loss histories of all arms, snapshots of those trained here, several seeds.
Makes: tables/paired_ranks, tables/gradient and tables/gradient_claims.{csv,md,html,tex};
tables/paired_ranks_by_seed.csv;
figures/paired_ranks and figures/gradient.{png,svg,pdf}.
"""

PAIRED = plan.gradient.compared(config)
FULL = plan.gradient.full(config)
BY_SEED = f"{RESULTS}/tables/paired_ranks_by_seed.csv"


if PAIRED:

    rule paired_ranks_table:
        input:
            table=f"{RESULTS}/tables/imposed_rank.csv",
            tbat=scores(["tbat"], names(MODELS, *SCORED)),
            histories=[
                HISTORY.format(model=row["model"])
                for row in IMPOSED
                if MODELS.get(row["model"]) and MODELS[row["model"]].settings
            ],
            along=[
                f"{RESULTS}/dynamics/{model.name}.parquet"
                for model in SNAPSHOTS
                if model.name in FULL
            ],
            published=f"{PUBLISHED}/murugan_2026.csv",
        output:
            **table(
                "paired_ranks",
                category="9 Gradient",
                label="Ways to impose a rank: differences paired by seed",
            ),
            seeds=BY_SEED,
        params:
            settings=settings(**config["statistics"]),
        script:
            step("paired_ranks_table.py")

    rule paired_ranks_figure:
        input:
            f"{RESULTS}/tables/paired_ranks.csv",
        output:
            **figure(
                "paired_ranks",
                category="9 Gradient",
                label="What a rank costs, by where it is imposed",
            ),
        params:
            settings=settings(truth=TRUTHS[0]),
        script:
            step("paired_ranks_figure.py")


if SNAPSHOTS:

    rule gradient_table:
        input:
            [f"{RESULTS}/dynamics/{model.name}.parquet" for model in SNAPSHOTS],
        output:
            **table(
                "gradient",
                category="9 Gradient",
                label="How much of the logits' gradient reaches the trunk",
            ),
        params:
            settings=settings(
                unit=UNIT,
                models=[
                    {
                        "model": model.name,
                        "kind": model.kind,
                        "rank": model.rank,
                        "seed": model.seed,
                    }
                    for model in SNAPSHOTS
                ],
            ),
        script:
            step("gradient_table.py")

    rule gradient_figure:
        input:
            f"{RESULTS}/tables/gradient.csv",
        output:
            **figure(
                "gradient",
                category="9 Gradient",
                label="How much of the logits' gradient reaches the trunk",
            ),
        script:
            step("gradient_figure.py")


if PAIRED and SNAPSHOTS:

    rule gradient_claims_table:
        input:
            seeds=BY_SEED,
            gradient=f"{RESULTS}/tables/gradient.csv",
        output:
            **table(
                "gradient_claims",
                category="9 Gradient",
                label="What is said of expressivity and optimisation, and whether it holds",
            ),
        script:
            step("gradient_claims_table.py")
