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
    log:
        f"{RESULTS}/logs/story.log",
    localrule: True
    script:
        "../../scripts/story.py"
