"""Requirements of a config before anything runs: `snakemake needs`. `snakemake -n` prints the number of jobs.

Needs: nothing.
Makes: nothing; it prints.
"""


rule needs:
    localrule: True
    params:
        study=plan.needs.study(config),
    script:
        step("needs.py")
