"""Other people's models, at each revision that the config lists (Godey et al. 2024): any causal LM on the hub.

Needs: the evaluation split and the manifests of `snakemake assets`.
Makes: others/{model}/{revision}.parquet and {revision}.spectrum.parquet; tables/other_models.{csv,md,html,tex};
figures/other_models.{png,svg,pdf}.
"""

from studies.other_models import plan as other_models

REVISIONS = other_models.revisions(config)


if REVISIONS:

    rule others:
        input:
            evaluation=ancient(CORPUS["evaluation"]),
            manifest=MANIFEST,
            asset=lambda wildcards: MANIFEST_OF.format(asset=REVISIONS[wildcards.revision].asset),
        output:
            measures=f"{RESULTS}/others/{{revision}}.parquet",
            spectrum=f"{RESULTS}/others/{{revision}}.spectrum.parquet",
        wildcard_constraints:
            revision=one_of(REVISIONS),
        threads: config["others"]["threads"]
        resources:
            **ON_GPU,
            **per_attempt(runtime=120),
            mem_mb=lambda wildcards, input, attempt: other_models.memory(
                REVISIONS[wildcards.revision], input.asset, attempt
            ),
        params:
            settings=lambda wildcards: REVISIONS[wildcards.revision].settings,
            device=DEVICE,
        script:
            "measure.py"

    rule other_models_table:
        input:
            [f"{RESULTS}/others/{place}.parquet" for place in REVISIONS],
        output:
            **table("other_models", "8 Small models", "Other people's models, by revision", caption="table.rst"),
            **figure(
                "other_models",
                "8 Small models",
                "Other people's models: loss, head and hidden states",
                caption="figure.rst",
            ),
        params:
            settings=settings(
                revisions=[
                    {"model": one.model, "revision": one.revision, "step": one.step} for one in REVISIONS.values()
                ]
            ),
        script:
            "show.py"
