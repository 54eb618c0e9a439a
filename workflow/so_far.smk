"""What a run under way has to show: tables from the models that are finished, beside it and touching nothing of it.

    snakemake -s workflow/so_far.smk --nolock --cores 1 [--configfile ...]

Needs: whatever lies in the results folder. Of the study it takes the rules of tables alone, and reads from them which
files each table is made of; none that trains or scores is among them, so nothing can be made that is missing.
Makes: so_far/tables/*.{csv,md} and so_far/progress.md, which it prints; each time anew.
"""


configfile: f"{workflow.basedir}/../config/config.yaml"


include: "rules/common.smk"


module study:
    snakefile:
        "Snakefile"
    config:
        config


use rule losses_table from study


use rule oversmoothing_table from study


use rule decodings_table from study


use rule decodings_pooled_table from study


use rule tbat_table from study


use rule entropy_difference_table from study


use rule argmaxability_table from study


use rule effective_rank_table from study


use rule quality_table from study


if config["svd_ranks"]:

    use rule svd_table from study


rule so_far:
    default_target: True
    log:
        f"{RESULTS}/so_far/so_far.log",
    localrule: True
    conda:
        "../envs/environment.yaml"
    params:
        settings=settings(
            results=RESULTS,
            config=config,
            snakefile=f"{workflow.basedir}/Snakefile",
            models=plan.watched(config),
            tables=plan.declared(
                rule for rule in workflow.rules if rule.name.endswith("_table")
            ),
        ),
        training_code=fingerprint("train.py"),
        code=fingerprint("so_far.py"),
    script:
        "../scripts/so_far.py"
