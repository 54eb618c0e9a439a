"""What a config needs, before anything runs: `snakemake needs`; the number of jobs is what `snakemake -n` prints.

Needs: nothing.
Makes: nothing; it prints.
"""


rule needs:
    log:
        f"{RESULTS}/logs/needs.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        study=plan.study(config),
        code=fingerprint("needs.py"),
    script:
        "../../scripts/needs.py"
