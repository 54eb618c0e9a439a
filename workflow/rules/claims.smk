"""Findings as claims that can fail, tested on the tables of this run and on the thesis's own printed means; the page.

Needs: the tables that claims read, as far as the config makes them; the thesis's tables; for the page all.
Makes: tables/claims.{csv,md,html,tex}; index.html.
"""

STORY = f"{RESULTS}/index.html"

CLAIMED = plan.thesis.claimed(config)


rule claims_table:
    input:
        tables=[path for path in TABLES_AND_FIGURES if path in expand(f"{RESULTS}/tables/{{name}}.csv", name=CLAIMED)],
        windows=[WINDOW_MEANS] if REPLICATED else [],
        published=published(*dict.fromkeys(number for numbers in CLAIMED.values() for number in numbers)),
    output:
        **table("claims", "0 Findings", "What the thesis says, and whether it holds"),
    params:
        settings=settings(
            printed=CLAIMED,
            models=plan.models.compared_models(config),
            studies=plan.studies.with_part(config, "claims.py"),
        ),
        by_name=fingerprints(*plan.studies.code(config, "claims.py")),
    script:
        step("claims_table.py")


rule story:
    input:
        TABLES_AND_FIGURES,
        WINDOW_MEANS if REPLICATED else [],
    output:
        STORY,
    localrule: True
    params:
        settings=settings(studies=plan.studies.with_part(config, "story.md")),
        by_name=fingerprints(
            *(file for part in ("story.md", "finding.py", "claims.py") for file in plan.studies.code(config, part))
        ),
    script:
        step("story.py")
