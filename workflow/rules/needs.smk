"""What a config needs, before anything runs: `snakemake needs`; `snakemake -n` prints the number of jobs.

How far a run under way is, without touching its files: `snakemake so_far --nolock --cores 1`.

Needs: nothing; `so_far` reads whatever is in the results folder.
Makes: so_far/progress.md, written anew each time; both print.
"""


rule needs:
    localrule: True
    params:
        study=plan.needs.study(config),
    script:
        step("needs.py")


rule so_far:
    log:
        f"{RUN.results}/so_far/so_far.log",
    localrule: True
    params:
        settings=settings(
            results=RUN.results,
            config={key: config[key] for key in config if key != "unit"},  # as given
            snakefile=f"{workflow.basedir}/Snakefile",
            models=plan.models.followed_models(config),
        ),
        training_code=fingerprint("train.py"),
    script:
        step("so_far.py")
