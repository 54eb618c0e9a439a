"""The story page, from all tables and figures.

Needs: every table and figure.
Makes: index.html.
"""

STORY = f"{RESULTS}/index.html"


rule story:
    input:
        TABLES_AND_FIGURES,
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
