"""Other people's models, at each revision that the config lists (Godey et al. 2024): any causal LM on the hub.

Needs: the evaluation split and the manifests of `snakemake assets`.
Makes: others/{model}/{revision}.parquet and {revision}.spectrum.parquet; tables/other_models.{csv,md,html,tex};
figures/other_models.{png,svg,pdf}.
"""

OTHERS = plan.others.revisions(config)


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
    wildcard_constraints:
        revision=one_of(OTHERS),
    threads: config["others"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(runtime=120),
        mem_mb=lambda wildcards, input, attempt: plan.others.memory(
            OTHERS[wildcards.revision], input.asset, attempt
        ),
    params:
        settings=lambda wildcards: OTHERS[wildcards.revision].settings,
        device=DEVICE,
    script:
        step("others.py")


if OTHERS:

    rule other_models_table:
        input:
            [f"{RESULTS}/others/{place}.parquet" for place in OTHERS],
        output:
            **table(
                "other_models",
                category="8 Small models",
                label="Other people's models, by revision",
            ),
        params:
            settings=settings(
                revisions=[
                    {"model": one.model, "revision": one.revision, "step": one.step}
                    for one in OTHERS.values()
                ]
            ),
        script:
            step("other_models_table.py")

    rule other_models_figure:
        input:
            f"{RESULTS}/tables/other_models.csv",
        output:
            **figure(
                "other_models",
                category="8 Small models",
                label="Other people's models: loss, head and hidden states",
            ),
        script:
            step("other_models_figure.py")
