"""Downloads from the Hugging Face hub and with pip: `snakemake assets` needs the network; all other rules run offline.

Needs: the network, or the folder or GGUF file that the config names in place of a hub name.
Makes: {assets}/{asset}.json for a model, fetched/corpus.json for the shards of a corpus: a manifest of commit, files
and checksums. Files of the hub are in its own cache (HF_HOME). Of a model in a GGUF file or in a package the folder
beside it, in the Hugging Face format, is made here.

Before anything is fetched, the hub's checksums of a repository's revisions are compared (`checks/versions.py`, called
in the Snakefile): branches of different training steps are known to hold the same weights.

The files themselves are not outputs: completed downloads survive a failed job, and a further shard is fetched alone.
"""

ASSETS = plan.assets.by_name(config)
MAKING_ASSETS = "oversmoothing/models/pretrained/made_assets.py"  # from GGUF files and packages, with its imports


rule fetch:
    input:
        lambda wildcards: plan.assets.files_in_folder(ASSETS[wildcards.asset]),
    output:
        RUN.manifest_of,
    wildcard_constraints:
        asset=one_of(ASSETS),
    localrule: True
    resources:
        mem_mb=lambda wildcards, attempt: plan.resources.asset_memory(ASSETS[wildcards.asset], attempt),
    params:
        settings=lambda wildcards: ASSETS[wildcards.asset],
        files=lambda wildcards: contents(
            plan.assets.files_in_folder(ASSETS[wildcards.asset]), f"model {wildcards.asset}"
        ),
        # Functions of `output`, so not compared: fetched files stay valid when this code changes.
        code=lambda wildcards, output: fingerprint("fetch.py"),
        by_name=lambda wildcards, output: fingerprints(MAKING_ASSETS),
    script:
        step("fetch.py")


rule fetch_corpus:
    output:
        RUN.fetched_corpus,
    localrule: True
    params:
        settings=plan.corpus.fetch_settings(config),
        files=lambda wildcards: contents(plan.corpus.local_shards(config), "shards of the corpus"),
        folder=lambda wildcards, output: plan.corpus.fetched_folder(config),
        code=lambda wildcards, output: fingerprint("fetch_corpus.py"),
    script:
        step("fetch_corpus.py")


rule assets:
    input:
        expand(RUN.manifest_of, asset=ASSETS),
        RUN.fetched_corpus if plan.corpus.is_fetched(config) else [],
    localrule: True
