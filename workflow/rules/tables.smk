"""What people read: tables as CSV, Markdown and LaTeX, the thesis's numbers beside ours.

Needs: scores, and the thesis's tables under resources/published/.
Makes: tables/oversmoothing.{csv,md,tex} (Tables 4.1 and 4.2).
"""

PUBLISHED = os.path.relpath(f"{workflow.basedir}/../resources/published")
OVERSMOOTHING = ("tto", "nsmd", "tv", "kl")


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
            models=plan.table_rows(config, "family"),
            truths=plan.table_rows(config, "truth"),
        ),
        code=fingerprint("oversmoothing_table.py"),
    script:
        "../../scripts/oversmoothing_table.py"
