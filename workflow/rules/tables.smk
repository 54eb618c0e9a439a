"""What people read: tables as CSV, Markdown and LaTeX, the thesis's numbers beside ours.

Needs: scores, and the thesis's tables under resources/published/.
Makes: tables/oversmoothing.{csv,md,tex} (Tables 4.1 and 4.2), tables/tbat.{csv,md,tex} (Tables E.7 and E.8),
tables/tbat_approximation.{csv,md,tex}.
"""

PUBLISHED = os.path.relpath(f"{workflow.basedir}/../resources/published")
OVERSMOOTHING = ("tto", "nsmd", "tv", "kl", "tbat")


rule oversmoothing_table:
    input:
        scores=expand(
            f"{RESULTS}/scores/{{metric}}/{{model}}.parquet",
            metric=OVERSMOOTHING,
            model=plan.names(MODELS, "family"),
        ),
        published=[f"{PUBLISHED}/table_4_1.csv", f"{PUBLISHED}/table_4_2.csv"],
    output:
        csv=f"{RESULTS}/tables/oversmoothing.csv",
        markdown=f"{RESULTS}/tables/oversmoothing.md",
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
        latex=f"{RESULTS}/tables/tbat.tex",
    log:
        f"{RESULTS}/logs/tbat_table.log",
    params:
        settings=settings(
            **config["statistics"],
            title="Total mass of the BAT-reject set by decoding (Tables E.7 and E.8).",
            across="decoding",
            decodings=[entry["name"] for entry in config["decodings"]],
            models=plan.table_rows(config, "family"),
            truths=[],
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
        latex=f"{RESULTS}/tables/tbat_approximation.tex",
    log:
        f"{RESULTS}/logs/tbat_approximation_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            **config["statistics"], models=plan.table_rows(config, "family")
        ),
        code=fingerprint("tbat_approximation_table.py"),
    script:
        "../../scripts/tbat_approximation_table.py"
