"""Dimensionality of a language: singular values of n-gram matrices of bytes and of byte pairs.

Needs: the training and the evaluation split, and the files that `language.corpora` names.
Makes: language/tokenizer.json, language/{spectra,sizes}/{text}.parquet;
tables/language_dimensionality.{csv,md,html,tex}; figures/language_spectrum.{png,svg,pdf}.
"""

from studies.language_dimensionality import plan as language

SPLITS_READ = ["train", "evaluation"]
CORPORA = {corpus["name"]: corpus for corpus in config["language"]["corpora"]}
TEXTS = [*SPLITS_READ, *CORPORA]
TOKENIZER = [f"{RESULTS}/language/tokenizer.json"] if config["language"]["vocabulary"] else []


rule train_tokenizer:
    input:
        training=ancient(CORPUS["train"]),
        manifest=MANIFEST,
    output:
        f"{RESULTS}/language/tokenizer.json",
    resources:
        **per_attempt(mem_mb=4000, runtime=30),
    params:
        settings=settings(bytes=config["language"]["bytes"], vocabulary=config["language"]["vocabulary"]),
    script:
        "tokenizer.py"


rule language:
    input:
        text=ancient(f"{RESULTS}/corpus/{{text}}.bin"),
        manifest=MANIFEST,
        tokenizer=TOKENIZER,
    output:
        spectra=f"{RESULTS}/language/spectra/{{text}}.parquet",
        sizes=f"{RESULTS}/language/sizes/{{text}}.parquet",
    log:
        f"{RESULTS}/logs/language/{{text}}.log",
    wildcard_constraints:
        text=one_of(SPLITS_READ),
    resources:
        **per_attempt(mem_mb=4000, runtime=60),
    params:
        settings=language.spectrum_settings(config),
    script:
        "measure.py"


use rule language as language_of_files with:
    input:
        text=lambda wildcards: ancient(plan.corpus.matching_files(CORPORA[wildcards.text]["paths"])),
        tokenizer=TOKENIZER,
    wildcard_constraints:
        text=one_of(CORPORA),
    params:
        settings=lambda wildcards: language.spectrum_settings(config, CORPORA[wildcards.text]),
        files=lambda wildcards: contents(plan.corpus.matching_files(CORPORA[wildcards.text]["paths"])),


rule language_dimensionality_table:
    input:
        sizes=expand(f"{RESULTS}/language/sizes/{{text}}.parquet", text=TEXTS),
        spectra=expand(f"{RESULTS}/language/spectra/{{text}}.parquet", text=TEXTS),
    output:
        **table(
            "language_dimensionality",
            "8 Small models",
            "Beyond the thesis: dimensions of the language",
        ),
        **figure(
            "language_spectrum",
            "8 Small models",
            "Beyond the thesis: W-error against dimensions",
        ),
    params:
        settings=settings(texts=TEXTS, ranks=plan.models.family_ranks(config)),
    script:
        "table.py"
