"""How far a run under way has come, beside it and touching nothing of it: `snakemake so_far --nolock --cores 1`.

Needs: whatever lies in the results folder.
Makes: so_far/progress.md, which it prints; each time anew.
"""


rule so_far:
    log:
        f"{RESULTS}/so_far/so_far.log",
    localrule: True
    params:
        settings=settings(
            results=RESULTS,
            config=config,
            snakefile=f"{workflow.basedir}/Snakefile",
            models=plan.progress.rows(config),
        ),
        training_code=fingerprint("train.py"),
    script:
        "../../scripts/so_far.py"
