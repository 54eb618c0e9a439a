"""What comes from the Hugging Face hub: `snakemake assets` fetches it where the network is; all else runs offline.

Needs: the network, or the folder that the config names in the place of a hub name.
Makes: {assets}/{asset}.json for a model, fetched/corpus.json for the shards of a corpus: a manifest of commit, files
and checksums.

The files are no outputs, so that what has arrived outlives a failed job, and another shard costs only itself.
"""

ASSETS = plan.assets(config)
ASSET_FOLDER = config["assets"].rstrip("/")
MANIFEST_OF = f"{ASSET_FOLDER}/{{asset}}.json"


rule fetch:
    input:
        lambda wildcards: plan.asset_files(ASSETS[wildcards.asset]),
    output:
        MANIFEST_OF,
    log:
        f"{RESULTS}/logs/fetch/{{asset}}.log",
    wildcard_constraints:
        asset="|".join(map(re.escape, ASSETS)) or "(?!)",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=lambda wildcards: ASSETS[wildcards.asset],
        files=lambda wildcards: contents(plan.asset_files(ASSETS[wildcards.asset])),
        # Of `output`, and so not compared: what has been fetched is as good after a change of this code.
        code=lambda wildcards, output: fingerprint("fetch.py"),
    script:
        "../../scripts/fetch.py"


rule fetch_corpus:
    output:
        plan.fetched_corpus(config),
    log:
        f"{RESULTS}/logs/fetch_corpus.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=plan.fetch_settings(config),
        files=lambda wildcards: contents(local_shards(config)),
        folder=lambda wildcards, output: plan.corpus_folder(config),
        code=lambda wildcards, output: fingerprint("fetch_corpus.py"),
    script:
        "../../scripts/fetch_corpus.py"


rule assets:
    input:
        expand(MANIFEST_OF, asset=ASSETS),
        plan.fetched_corpus(config) if config["corpus"]["source"] == "fineweb" else [],
    localrule: True
