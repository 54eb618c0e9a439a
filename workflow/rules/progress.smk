"""Progress of a run under way, without touching any of its files: `snakemake so_far --nolock --cores 1`.

Needs: nothing; it reads whatever is in the results folder.
Makes: so_far/progress.md, written anew each time and printed.
"""


rule so_far:
    log:
        f"{RESULTS}/so_far/so_far.log",
    localrule: True
    params:
        settings=settings(
            results=RESULTS,
            config={key: config[key] for key in config if key != "unit"},  # as given
            snakefile=f"{workflow.basedir}/Snakefile",
            models=plan.models.followed_models(config),
        ),
        training_code=fingerprint("train.py"),
    script:
        step("so_far.py")
