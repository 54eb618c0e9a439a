"""Tables of scores as CSV, Markdown, HTML and LaTeX, beside the thesis's numbers.

Needs: scores, and the thesis's tables under resources/published/.
Makes: tables/oversmoothing.{csv,md,html,tex} (Tables 4.1 and 4.2), figures/oversmoothing.{png,svg,pdf},
tables/decodings (E.1 to E.6), tables/decodings_pooled (6.1), tables/tbat (E.7 and E.8), tables/entropy_difference (F.1), tables/svd (7.1 and 7.2),
tables/tbat_approximation; of members from the hub tables/side_by_side; with several truths tables/truths, each truth
held against the others; with several seeds tables/window_means.parquet, for intervals over seeds and text.
"""

OVERSMOOTHING = [name for name in METRICS if METRICS[name].table == "oversmoothing"]
ENTROPY = [name for name in METRICS if METRICS[name].table == "entropy_difference"]


if REPLICATED:

    rule window_means:
        input:
            scores=scores(AGAINST_TRUTHS, [row["model"] for row in REPLICATED]),
            tbat=scores(["tbat"], [row["model"] for row in REPLICATED if row["model"] in LINEAR]),
        output:
            WINDOW_MEANS,
        params:
            settings=settings(models=REPLICATED),
        script:
            step("window_means.py")


rule oversmoothing_table:
    input:
        scores=scores(OVERSMOOTHING, FAMILY),
        published=published("4_1", "4_2"),
    output:
        **table("oversmoothing", "0 Findings", "1. The main table: oversmoothing by rank (Tables 4.1, 4.2)"),
    params:
        settings=beside_thesis("Oversmoothing {by} (Tables 4.1 and 4.2).", OVERSMOOTHING),
    script:
        step("score_table.py")


rule oversmoothing_figure:
    input:
        table=f"{RESULTS}/tables/oversmoothing.csv",
        windows=[WINDOW_MEANS] if REPLICATED else [],
    output:
        **figure("oversmoothing", "0 Findings", "2. The same, drawn"),
    script:
        step("oversmoothing_figure.py")


if LINEAR:

    use rule oversmoothing_table as tbat_table with:
        input:
            scores=scores(["tbat"], FAMILY),
            published=published("e_7", "e_8"),
        output:
            **table("tbat", "4 Oversmoothing", "Tables E.7, E.8: TBAT by decoding"),
        params:
            settings=beside_thesis(
                "Total mass of the BAT-reject set by decoding (Tables E.7 and E.8).", ["tbat"], "decoding", truths=[]
            ),


use rule oversmoothing_table as decodings_table with:
    input:
        scores=scores(AGAINST_TRUTHS, FAMILY),
        published=published("e_1", "e_2", "e_3", "e_4", "e_5", "e_6"),
    output:
        **table("decodings", "6 Decoding", "Tables E.1 to E.6: each truth"),
    params:
        settings=beside_thesis("Oversmoothing by rank and decoding (Tables E.1 to E.6).", AGAINST_TRUTHS, "decoding"),


use rule oversmoothing_table as decodings_pooled_table with:
    input:
        scores=scores(AGAINST_TRUTHS, FAMILY),
        published=published("6_1"),
    output:
        **table("decodings_pooled", "6 Decoding", "Table 6.1: all truths"),
    params:
        settings=beside_thesis(
            "Oversmoothing by rank and decoding, over all truths (Table 6.1).",
            AGAINST_TRUTHS,
            "decoding",
            truths=[plan.thesis.all_truths(config, AGAINST_TRUTHS)],
            pooled="all truths",
        ),


use rule oversmoothing_table as entropy_difference_table with:
    input:
        scores=scores(ENTROPY, FAMILY),
        published=published("f_1"),
    output:
        **table("entropy_difference", "6 Decoding", "Table F.1: entropy differences"),
    params:
        settings=beside_thesis("Entropy of the truth less that of the model (Table F.1).", ENTROPY),


if len(TRUTHS) > 1:

    use rule oversmoothing_table as truths_table with:
        input:
            scores=scores(AGAINST_TRUTHS, TRUTHS),
            published=[],
        output:
            **table("truths", "4 Oversmoothing", "Beyond the thesis: each truth against the others"),
        params:
            settings=beside_thesis("Each truth held against the others.", AGAINST_TRUTHS, kind="truth"),


if FETCHED:

    rule side_by_side_table:
        input:
            positions=expand(f"{RESULTS}/side_by_side/{{model}}.parquet", model=FETCHED),
        output:
            **table("side_by_side", "4 Oversmoothing", "As llama.cpp compares: quantiles of KL, same top, dp"),
        params:
            settings=settings(
                **config["statistics"],
                unit=UNIT,
                models=[row for row in model_rows(MODELS, "family") if row["model"] in FETCHED],
            ),
        script:
            step("side_by_side_table.py")


if TRUNCATED:

    use rule oversmoothing_table as svd_table with:
        input:
            scores=scores([*AGAINST_TRUTHS, *ENTROPY], TRUNCATED),
            published=published("7_1", "7_2"),
        output:
            **table("svd", "7 Rank", "Tables 7.1, 7.2: truncated heads"),
        params:
            settings=beside_thesis(
                f"Oversmoothing of {plan.models.truncated_model(config)} with its head truncated by SVD, by rank "
                "(Tables 7.1 and 7.2).",
                [*AGAINST_TRUTHS, *ENTROPY],
                kind="svd",
            ),


if TBAT["approximations"] and LINEAR:

    rule tbat_approximation_table:
        input:
            scores=scores(["tbat_approximation"], LINEAR),
        output:
            **table("tbat_approximation", "4 Oversmoothing", "Beyond the thesis: TBAT with approximated heads"),
        params:
            settings=settings(
                **config["statistics"],
                models=[row for row in plan.thesis.compared(config, "family", ["tbat"]) if row["model"] in LINEAR],
            ),
        script:
            step("tbat_approximation_table.py")
