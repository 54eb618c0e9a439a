"""Expressivity or optimisation: what a rank costs on the logits, on the gradient or on both, paired by seed.

Needs: tables/imposed_rank.csv, TBAT and loss histories of all arms, snapshots of those trained here, several seeds.
Makes: tables/paired_ranks, closed_square, gradient and gradient_claims.{csv,md,html,tex};
tables/paired_ranks_by_seed.csv; figures/paired_ranks, closed_square and gradient.{png,svg,pdf}.
"""

from studies.imposed_rank import plan as imposed_rank
from studies.paired_ranks import plan as paired_ranks

PAIRED = paired_ranks.compared(config)
FULL = paired_ranks.full(config)
BY_SEED = f"{RESULTS}/tables/paired_ranks_by_seed.csv"
# Names, chapters and labels of a table and its figure.
SQUARE = ("closed_square", "9 Gradient", "What a rank costs in the trunk and in the head")
GRADIENT = ("gradient", "9 Gradient", "How much of the logits' gradient reaches the trunk")


if PAIRED:

    rule paired_ranks_table:
        input:
            table=f"{RESULTS}/tables/imposed_rank.csv",
            tbat=scores(["tbat"], [name for name in names(MODELS, *KINDS_OF_FAMILY) if MODELS[name].linear]),
            histories=[
                HISTORY.format(model=row["model"])
                for row in imposed_rank.rows(config)
                if isinstance(MODELS.get(row["model"]), Trained)
            ],
            along=[f"{RESULTS}/dynamics/{model.name}.parquet" for model in SNAPSHOTS if model.name in FULL],
            published=f"{PUBLISHED}/murugan_2026.csv",
        output:
            **table("paired_ranks", "9 Gradient", "Ways to impose a rank: differences paired by seed"),
            **figure("paired_ranks", "9 Gradient", "What a rank costs, by where it is imposed"),
            seeds=BY_SEED,
        params:
            settings=settings(**config["statistics"], truth=TRUTHS[0]),
        script:
            "paired.py"


if PAIRED and imposed_rank.closes_a_square(config):

    rule closed_square_table:
        input:
            seeds=BY_SEED,
        output:
            **table(*SQUARE),
            **figure(*SQUARE),
        params:
            settings=settings(truth=TRUTHS[0]),
        script:
            "square.py"


if SNAPSHOTS:

    rule gradient_table:
        input:
            [f"{RESULTS}/dynamics/{model.name}.parquet" for model in SNAPSHOTS],
        output:
            **table(*GRADIENT),
            **figure(*GRADIENT),
        params:
            settings=settings(
                unit=UNIT,
                models=[
                    {"model": model.name, "kind": model.kind, "rank": model.rank, "seed": model.seed}
                    for model in SNAPSHOTS
                ],
            ),
        script:
            "gradient.py"


if PAIRED and SNAPSHOTS:

    rule gradient_claims_table:
        input:
            seeds=BY_SEED,
            gradient=f"{RESULTS}/tables/gradient.csv",
        output:
            **table(
                "gradient_claims",
                "9 Gradient",
                "What is said of expressivity and optimisation, and whether it holds",
            ),
        params:
            settings=settings(classes=plan.tokens.vocabulary(config).get("vocabulary", 256)),
        script:
            "judge.py"
