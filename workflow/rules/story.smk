"""The page: findings, tables and figures of this run.

Needs: all tables and figures, of which `claims` says what holds here and in the thesis's own printed means.
Makes: index.html.
"""

STORY = f"{RUN.results}/index.html"


rule story:
    input:
        TABLES_AND_FIGURES,
        RUN.window_means if RUN.replicated else [],
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
