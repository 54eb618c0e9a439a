"""Findings as falsifiable claims, tested on this run and on the thesis's own printed means.

Needs: scores, losses, logits; what the claims of studies read; the thesis's tables.
Makes: tables/claims.{csv,md,html,tex}.
"""


rule claims_table:
    input:
        by_model=[
            *scores(METRICS, FAMILY),
            *scores(AGAINST_TRUTHS, TRUNCATED),
            *[LOGITS.format(model=model.name) for model in PREDICTORS],
        ],
        histories=[HISTORY.format(model=model.name) for model in TRAINED],
        windows=WINDOWS,
        tested=TESTED,
        published=published("3_1", "6_1", "7_1", "7_2", "e_7", "e_8", "f_1", *PRINTED),
    output:
        **table("claims", "0 Findings", "What the thesis says, and whether it holds"),
    params:
        settings=settings(
            **config["statistics"],
            **config["claims"],
            decodings=DECODED,
            models=plan.models.compared_models(config),
            studies=plan.studies.with_part(config, "claims.py"),
        ),
        by_name=fingerprints(*plan.studies.code(config, "claims.py")),
    script:
        step("claims_table.py")
