"""The text: from a source of documents to three disjoint files of bytes, and the windows to score.

Needs: nothing, or the files that `corpus.paths` names.
Makes: corpus/{train,validation,evaluation}.bin (uint8), corpus/manifest.json, windows.parquet.
"""

CORPUS = {
    split: f"{RESULTS}/corpus/{split}.bin"
    for split in ("train", "validation", "evaluation")
}
MANIFEST = f"{RESULTS}/corpus/manifest.json"
TEXT = plan.corpus_files(config) if config["corpus"]["source"] == "files" else []


rule build_corpus:
    input:
        # Text of the user is known by what it holds, not by its time.
        files=ancient(TEXT) or plan.corpus_files(config),
    output:
        **CORPUS,
        manifest=MANIFEST,
    log:
        f"{RESULTS}/logs/build_corpus.log",
    conda:
        ENVIRONMENT
    threads: 2
    resources:
        mem_mb=plan.growing(4000),
        runtime=plan.growing(120),
    params:
        settings=plan.corpus_settings(config),
        files=lambda wildcards: contents(TEXT),
        at_least=lambda wildcards, output: plan.bytes_needed(config),
        code=fingerprint("build_corpus.py"),
    script:
        "../../scripts/build_corpus.py"


rule draw_windows:
    input:
        evaluation=ancient(CORPUS["evaluation"]),
        manifest=MANIFEST,
    output:
        f"{RESULTS}/windows.parquet",
    log:
        f"{RESULTS}/logs/draw_windows.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(1000),
        runtime=plan.growing(10),
    params:
        settings=settings(**config["windows"]),
        code=fingerprint("draw_windows.py"),
    script:
        "../../scripts/draw_windows.py"
