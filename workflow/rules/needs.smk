"""What a config needs, before anything runs: `snakemake needs`; the number of jobs is what `snakemake -n` prints.

Needs: nothing.
Makes: nothing; it prints.
"""


rule needs:
    localrule: True
    params:
        study=plan.needs.study(config),
    script:
        "../../scripts/needs.py"
