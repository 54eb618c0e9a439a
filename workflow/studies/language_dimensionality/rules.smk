"""Dimensionality of a language: singular values of n-gram matrices of bytes and of byte pairs.

Needs: the training and the evaluation split, and the files that `language.corpora` names.
Makes: language/tokenizer.json, language/{spectra,sizes}/{corpus}.parquet.
"""

from studies.language_dimensionality import plan as language

TOKENIZER = [f"{RUN.results}/language/tokenizer.json"] if config["language"]["vocabulary"] else []
CORPORA = language.corpora(config)
matching_files_of = lambda wildcards: plan.corpus.matching_files(CORPORA[wildcards.corpus]["paths"])
is_split = lambda wildcards: wildcards.corpus in language.SPLITS


rule train_tokenizer:
    input:
        training=ancient(RUN.corpus["train"]),
        manifest=RUN.manifest,
    output:
        f"{RUN.results}/language/tokenizer.json",
    resources:
        **per_attempt(mem_mb=4000, runtime=30),
    params:
        settings=settings(bytes=config["language"]["bytes"], vocabulary=config["language"]["vocabulary"]),
    script:
        "tokenizer.py"


rule language:
    input:
        text=lambda wildcards: ancient(
            RUN.corpus[wildcards.corpus] if is_split(wildcards) else matching_files_of(wildcards)
        ),
        manifest=lambda wildcards: RUN.manifest if is_split(wildcards) else [],
        tokenizer=TOKENIZER,
    output:
        spectra=f"{RUN.results}/language/spectra/{{corpus}}.parquet",
        sizes=f"{RUN.results}/language/sizes/{{corpus}}.parquet",
    wildcard_constraints:
        corpus=one_of([*language.SPLITS, *CORPORA]),
    resources:
        **per_attempt(mem_mb=4000, runtime=60),
    params:
        settings=lambda wildcards: language.spectrum_settings(config, CORPORA.get(wildcards.corpus)),
        files=lambda wildcards: {} if is_split(wildcards) else contents(matching_files_of(wildcards)),
    script:
        "measure.py"
