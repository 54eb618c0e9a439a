"""Models of other people, at each revision that the config lists (Godey et al. 2024): any causal LM of the hub.

Needs: the evaluation split and the manifests of `snakemake assets`.
Makes: others/{model}/{revision}.parquet and {revision}.spectrum.parquet; tables/other_models.{csv,md,html,tex};
figures/other_models.{png,svg}.
"""

OTHERS = plan.others(config)


rule others:
    input:
        evaluation=ancient(CORPUS["evaluation"]),
        manifest=MANIFEST,
        asset=lambda wildcards: MANIFEST_OF.format(
            asset=OTHERS[wildcards.revision].asset
        ),
    output:
        measures=f"{RESULTS}/others/{{revision}}.parquet",
        spectrum=f"{RESULTS}/others/{{revision}}.spectrum.parquet",
    log:
        f"{RESULTS}/logs/others/{{revision}}.log",
    wildcard_constraints:
        revision="|".join(map(re.escape, OTHERS)) or "(?!)",
    conda:
        ENVIRONMENT
    threads: config["others"]["threads"]
    resources:
        gpu=GPUS,
        gpu_job=GPUS,
        mem_mb=lambda wildcards, input, attempt: plan.other_memory(
            OTHERS[wildcards.revision], input.asset, attempt
        ),
        runtime=plan.growing(120),
    params:
        settings=lambda wildcards: OTHERS[wildcards.revision].settings,
        device=lambda wildcards, output: config["device"],
        code=fingerprint("others.py"),
    script:
        "../../scripts/others.py"


rule other_models_table:
    input:
        [f"{RESULTS}/others/{place}.parquet" for place in OTHERS],
    output:
        csv=f"{RESULTS}/tables/other_models.csv",
        markdown=f"{RESULTS}/tables/other_models.md",
        html=report(
            f"{RESULTS}/tables/other_models.html",
            caption="../report/other_models_table.rst",
            category="8 Saturation",
            labels={"result": "Other people's models, by revision"},
        ),
        latex=f"{RESULTS}/tables/other_models.tex",
    log:
        f"{RESULTS}/logs/other_models_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(revisions=plan.revisions(OTHERS)),
        code=fingerprint("other_models_table.py"),
    script:
        "../../scripts/other_models_table.py"


rule other_models_figure:
    input:
        f"{RESULTS}/tables/other_models.csv",
    output:
        f"{RESULTS}/figures/other_models.png",
        report(
            f"{RESULTS}/figures/other_models.svg",
            caption="../report/other_models_figure.rst",
            category="8 Saturation",
            labels={"result": "Other people's models: loss, head and hidden states"},
        ),
    log:
        f"{RESULTS}/logs/other_models_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        code=fingerprint("other_models_figure.py"),
    script:
        "../../scripts/other_models_figure.py"
