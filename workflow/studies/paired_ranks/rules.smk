"""Expressivity or optimisation: what a rank costs on the logits, on the gradient or on both, paired by seed.

Needs: tables/imposed_rank.csv, TBAT and loss histories of all arms, several seeds.
Makes: tables/paired_ranks and closed_square.{csv,md,html,tex}; tables/paired_ranks_by_seed.csv; figures/paired_ranks and
closed_square.{png,svg,pdf}.
"""

from studies.imposed_rank import plan as imposed_rank
from studies.paired_ranks import plan as paired_ranks

PAIRED = paired_ranks.compared(config)
BY_SEED = f"{RESULTS}/tables/paired_ranks_by_seed.csv"
# Name, chapter and label of a table and its figure.
SQUARE = ("closed_square", "9 Gradient", "What a rank costs in the trunk and in the head")


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
