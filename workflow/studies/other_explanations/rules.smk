"""The thesis's other explanations: other output layers and other objectives, beside linear heads of the same ranks.

Needs: logits and scores of the family's arms and of the first truth; of known laws, theirs and those of their learners.
Makes: tables/explanations.{csv,md,html,tex}; figures/explanations.{png,svg,pdf}.
"""

from studies.other_explanations import plan as other_explanations
from studies.other_explanations.kinds import MEASURED

EXPLAINED = other_explanations.rows(config)
BY_LEARNERS = {  # of each text of a law, what the table says of the models that learned it
    text: [row for model in models.values() if (row := other_explanations.of_model(model))]
    for text, models in LEARNERS.items()
    if EXPLAINED and LEARNED[text].arms
}


if EXPLAINED:

    rule explanations_table:
        input:
            logits=[LOGITS.format(model=row["model"]) for row in EXPLAINED],
            scores=scores(MEASURED, [row["model"] for row in EXPLAINED]),
            of_laws=[
                path
                for text, models in BY_LEARNERS.items()
                for metric in MEASURED
                for path in scores_on_law(metric, [(text, row["model"]) for row in models])
            ],
            truth=LOGITS.format(model=TRUTHS[0]),
            laws=[LAW_LOGITS.format(law=LEARNED[text].law) for text in BY_LEARNERS],
            learned=[
                LEARNED_LOGITS.format(text=text, model=row["model"])
                for text, models in BY_LEARNERS.items()
                for row in models
            ],
        output:
            **table("explanations", "9 Gradient", "What other output layers and objectives are worth"),
            **figure(
                "explanations",
                "9 Gradient",
                "What other output layers and objectives are worth",
            ),
        params:
            settings=settings(
                truth=TRUTHS[0],
                tau=config["metrics"]["tau"],
                models=EXPLAINED,
                with_zeros=[LEARNED[text].law for text in BY_LEARNERS if LAWS[LEARNED[text].law].has_zeros],
                learners={text: {"law": LEARNED[text].law, "models": of} for text, of in BY_LEARNERS.items()},
            ),
        script:
            "show.py"
