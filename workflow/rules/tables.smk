"""What people read: tables as CSV, Markdown, HTML and LaTeX, the thesis's numbers beside ours.

Needs: scores, and the thesis's tables under resources/published/.
Makes: tables/oversmoothing.{csv,md,html,tex} (Tables 4.1 and 4.2), tables/decodings (E.1 to E.6), tables/decodings_pooled
(6.1), tables/tbat (E.7 and E.8), tables/entropy_difference (F.1), tables/svd (7.1 and 7.2), tables/tbat_approximation.
"""

PUBLISHED = os.path.relpath(f"{workflow.basedir}/../resources/published")
AGAINST_TRUTHS = ("tto", "nsmd", "tv", "kl")
DECODED = [entry["name"] for entry in config["decodings"]]


rule oversmoothing_table:
    input:
        scores=expand(
            f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
            metric=[*AGAINST_TRUTHS, "tbat"],
            model=plan.names(MODELS, "family"),
        ),
        published=[f"{PUBLISHED}/table_4_1.csv", f"{PUBLISHED}/table_4_2.csv"],
    output:
        csv=f"{RESULTS}/tables/oversmoothing.csv",
        markdown=f"{RESULTS}/tables/oversmoothing.md",
        html=report(
            f"{RESULTS}/tables/oversmoothing.html",
            caption="../report/oversmoothing.rst",
            category="4 Oversmoothing",
            labels={"result": "Tables 4.1, 4.2: oversmoothing by rank"},
        ),
        latex=f"{RESULTS}/tables/oversmoothing.tex",
    log:
        f"{RESULTS}/logs/oversmoothing_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            **config["statistics"],
            title="Oversmoothing by rank of what enters the LM head (Tables 4.1 and 4.2).",
            across="metric",
            decodings=["pure"],
            models=plan.table_rows(config, "family"),
            truths=plan.table_rows(config, "truth"),
        ),
        code=fingerprint("score_table.py"),
    script:
        "../../scripts/score_table.py"


use rule oversmoothing_table as tbat_table with:
    input:
        scores=expand(
            f"{RESULTS}/scores/tbat/{{model}}.parquet",
            model=plan.names(MODELS, "family"),
        ),
        published=[f"{PUBLISHED}/table_e_7.csv", f"{PUBLISHED}/table_e_8.csv"],
    output:
        csv=f"{RESULTS}/tables/tbat.csv",
        markdown=f"{RESULTS}/tables/tbat.md",
        html=report(
            f"{RESULTS}/tables/tbat.html",
            caption="../report/tbat.rst",
            category="4 Oversmoothing",
            labels={"result": "Tables E.7, E.8: TBAT by decoding"},
        ),
        latex=f"{RESULTS}/tables/tbat.tex",
    log:
        f"{RESULTS}/logs/tbat_table.log",
    params:
        settings=settings(
            **config["statistics"],
            title="Total mass of the BAT-reject set by decoding (Tables E.7 and E.8).",
            across="decoding",
            decodings=DECODED,
            models=plan.table_rows(config, "family", ["tau"]),
            truths=[],
        ),
        code=fingerprint("score_table.py"),


use rule oversmoothing_table as decodings_table with:
    input:
        scores=expand(
            f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
            metric=AGAINST_TRUTHS,
            model=plan.names(MODELS, "family"),
        ),
        published=[
            f"{PUBLISHED}/table_e_1.csv",
            f"{PUBLISHED}/table_e_2.csv",
            f"{PUBLISHED}/table_e_3.csv",
            f"{PUBLISHED}/table_e_4.csv",
            f"{PUBLISHED}/table_e_5.csv",
            f"{PUBLISHED}/table_e_6.csv",
        ],
    output:
        csv=f"{RESULTS}/tables/decodings.csv",
        markdown=f"{RESULTS}/tables/decodings.md",
        html=report(
            f"{RESULTS}/tables/decodings.html",
            caption="../report/decodings.rst",
            category="6 Decoding",
            labels={"result": "Tables E.1 to E.6: each truth"},
        ),
        latex=f"{RESULTS}/tables/decodings.tex",
    log:
        f"{RESULTS}/logs/decodings_table.log",
    params:
        settings=settings(
            **config["statistics"],
            title="Oversmoothing by rank and decoding (Tables E.1 to E.6).",
            across="decoding",
            decodings=DECODED,
            models=plan.table_rows(config, "family"),
            truths=plan.table_rows(config, "truth"),
        ),
        code=fingerprint("score_table.py"),


use rule oversmoothing_table as decodings_pooled_table with:
    input:
        scores=expand(
            f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
            metric=AGAINST_TRUTHS,
            model=plan.names(MODELS, "family"),
        ),
        published=[f"{PUBLISHED}/table_6_1.csv"],
    output:
        csv=f"{RESULTS}/tables/decodings_pooled.csv",
        markdown=f"{RESULTS}/tables/decodings_pooled.md",
        html=report(
            f"{RESULTS}/tables/decodings_pooled.html",
            caption="../report/decodings_pooled.rst",
            category="6 Decoding",
            labels={"result": "Table 6.1: all truths"},
        ),
        latex=f"{RESULTS}/tables/decodings_pooled.tex",
    log:
        f"{RESULTS}/logs/decodings_pooled_table.log",
    params:
        settings=settings(
            **config["statistics"],
            title="Oversmoothing by rank and decoding, over all truths (Table 6.1).",
            across="decoding",
            decodings=DECODED,
            models=plan.table_rows(config, "family"),
            truths=[plan.pooled_truths(config)],
            pooled="all truths",
        ),
        code=fingerprint("score_table.py"),


use rule oversmoothing_table as entropy_difference_table with:
    input:
        scores=expand(
            f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
            metric=["entropy_difference"],
            model=plan.names(MODELS, "family"),
        ),
        published=[f"{PUBLISHED}/table_f_1.csv"],
    output:
        csv=f"{RESULTS}/tables/entropy_difference.csv",
        markdown=f"{RESULTS}/tables/entropy_difference.md",
        html=report(
            f"{RESULTS}/tables/entropy_difference.html",
            caption="../report/entropy_difference.rst",
            category="6 Decoding",
            labels={"result": "Table F.1: entropy differences"},
        ),
        latex=f"{RESULTS}/tables/entropy_difference.tex",
    log:
        f"{RESULTS}/logs/entropy_difference_table.log",
    params:
        settings=settings(
            **config["statistics"],
            title="Entropy of the truth less that of the model (Table F.1).",
            across="metric",
            decodings=["pure"],
            models=plan.table_rows(config, "family"),
            truths=plan.table_rows(config, "truth"),
        ),
        code=fingerprint("score_table.py"),


if config["svd_ranks"]:

    use rule oversmoothing_table as svd_table with:
        input:
            scores=expand(
                f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
                metric=AGAINST_TRUTHS,
                model=plan.names(MODELS, "svd"),
            ),
            published=[f"{PUBLISHED}/table_7_1.csv", f"{PUBLISHED}/table_7_2.csv"],
        output:
            csv=f"{RESULTS}/tables/svd.csv",
            markdown=f"{RESULTS}/tables/svd.md",
            html=report(
                f"{RESULTS}/tables/svd.html",
                caption="../report/svd.rst",
                category="7 Rank",
                labels={"result": "Tables 7.1, 7.2: truncated heads"},
            ),
            latex=f"{RESULTS}/tables/svd.tex",
        log:
            f"{RESULTS}/logs/svd_table.log",
        params:
            settings=settings(
                **config["statistics"],
                title="Oversmoothing of the full model's head truncated by SVD, by rank (Tables 7.1 and 7.2).",
                across="metric",
                decodings=["pure"],
                models=plan.table_rows(config, "svd"),
                truths=plan.table_rows(config, "truth"),
            ),
            code=fingerprint("score_table.py"),


rule tbat_approximation_table:
    input:
        scores=expand(
            f"{RESULTS}/scores/tbat_approximation/{{model}}.parquet",
            model=plan.names(MODELS, "family"),
        ),
    output:
        csv=f"{RESULTS}/tables/tbat_approximation.csv",
        markdown=f"{RESULTS}/tables/tbat_approximation.md",
        html=report(
            f"{RESULTS}/tables/tbat_approximation.html",
            caption="../report/tbat_approximation.rst",
            category="4 Oversmoothing",
            labels={"result": "Beyond the thesis: TBAT with approximated heads"},
        ),
        latex=f"{RESULTS}/tables/tbat_approximation.tex",
    log:
        f"{RESULTS}/logs/tbat_approximation_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            **config["statistics"], models=plan.table_rows(config, "family", ["tau"])
        ),
        code=fingerprint("tbat_approximation_table.py"),
    script:
        "../../scripts/tbat_approximation_table.py"
