"""The story page, from all tables and figures.

Needs: every table and figure.
Makes: index.html.
"""

STORY = f"{RESULTS}/index.html"
ALWAYS.append(STORY)


rule story:
    input:
        TABLES_AND_FIGURES,
    output:
        STORY,
    log:
        f"{RESULTS}/logs/story.log",
    localrule: True
    params:
        settings=settings(studies=plan.studies.with_part(config, "chapter.py")),
        by_name=fingerprints(*plan.studies.code(config, "chapter.py")),
    script:
        step("story.py")
