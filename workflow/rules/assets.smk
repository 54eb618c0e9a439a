"""What comes from the hub: fetched where there is a network, so that jobs run where there is none.

Needs: the network. The files themselves lie under `assets` and are no outputs: Snakemake would delete gigabytes that
are still good before it adds one file.
Makes: fetched/corpus.json, a manifest of the shards with their checksums, where `corpus.source` is fineweb.
"""


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
        folder=lambda wildcards, output: plan.corpus_folder(config),
        code=fingerprint("fetch_corpus.py"),
    script:
        "../../scripts/fetch_corpus.py"


rule assets:
    input:
        plan.hub_assets(config),
    localrule: True
