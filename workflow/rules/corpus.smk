"""The text: documents from a source, split into three disjoint files of bytes, and the windows to score.

Needs: nothing, or the files that `corpus.paths` names.
Makes: corpus/{train,validation,evaluation}.bin (uint8), corpus/manifest.json, windows.parquet.
"""


rule build_corpus:
    input:
        # The user's text is identified by its contents, not by its modification time.
        files=corpus_files,
    output:
        **RUN.corpus,
        manifest=RUN.manifest,
    threads: 2
    resources:
        **per_attempt(runtime=120),
        mem_mb=lambda wildcards, attempt: plan.corpus.memory(config, attempt),
    params:
        settings=plan.corpus.corpus_settings(config),
        files=lambda wildcards: contents(RUN.user_text),
        identity=lambda wildcards: plan.corpus.identity(config, planned_text(lambda: contents(RUN.user_text))),
        at_least=lambda wildcards, output: plan.corpus.bytes_needed(config),
    script:
        step("build_corpus.py")


rule draw_windows:
    input:
        **RUN.tokens,
        evaluation=ancient(RUN.corpus["evaluation"]),
        manifest=RUN.manifest,
    output:
        RUN.windows,
    resources:
        **per_attempt(mem_mb=1000, runtime=10),
    params:
        settings=settings(**config["windows"]),
    script:
        step("draw_windows.py")
