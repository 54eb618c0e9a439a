"""How many dimensions a language has: singular values of n-gram matrices, of bytes and of byte pairs.

Needs: the training and the evaluation split, and the files that `language.corpora` names.
Makes: language/tokenizer.json, language/{spectra,sizes}/{text}.parquet,
tables/language_dimensionality.{csv,md,html,tex}, figures/language_spectrum.{png,svg}.
"""

SPLITS_READ = ["train", "evaluation"]
CORPORA = {corpus["name"]: corpus for corpus in config["language"]["corpora"]}
TEXTS = [*SPLITS_READ, *CORPORA]
TOKENIZER = (
    [f"{RESULTS}/language/tokenizer.json"] if config["language"]["vocabulary"] else []
)


rule train_tokenizer:
    input:
        training=ancient(CORPUS["train"]),
        manifest=MANIFEST,
    output:
        f"{RESULTS}/language/tokenizer.json",
    log:
        f"{RESULTS}/logs/train_tokenizer.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(4000),
        runtime=plan.growing(30),
    params:
        settings=settings(
            bytes=config["language"]["bytes"],
            vocabulary=config["language"]["vocabulary"],
        ),
        code=fingerprint("train_tokenizer.py"),
    script:
        "../../scripts/train_tokenizer.py"


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
        text="|".join(SPLITS_READ),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(4000),
        runtime=plan.growing(60),
    params:
        settings=plan.language_settings(config),
        code=fingerprint("language.py"),
    script:
        "../../scripts/language.py"


use rule language as language_of_files with:
    input:
        text=lambda wildcards: ancient(
            plan.matching_files(CORPORA[wildcards.text]["paths"])
        ),
        tokenizer=TOKENIZER,
    wildcard_constraints:
        text="|".join(map(re.escape, CORPORA)) or "(?!)",
    params:
        settings=lambda wildcards: plan.language_settings(
            config, CORPORA[wildcards.text]
        ),
        files=lambda wildcards: contents(
            plan.matching_files(CORPORA[wildcards.text]["paths"])
        ),
        code=fingerprint("language.py"),


rule language_dimensionality_table:
    input:
        sizes=expand(f"{RESULTS}/language/sizes/{{text}}.parquet", text=TEXTS),
        spectra=expand(f"{RESULTS}/language/spectra/{{text}}.parquet", text=TEXTS),
    output:
        csv=f"{RESULTS}/tables/language_dimensionality.csv",
        markdown=f"{RESULTS}/tables/language_dimensionality.md",
        html=report(
            f"{RESULTS}/tables/language_dimensionality.html",
            caption="../report/language_dimensionality.rst",
            category="8 Saturation",
            labels={"result": "Beyond the thesis: dimensions of the language"},
        ),
        latex=f"{RESULTS}/tables/language_dimensionality.tex",
    log:
        f"{RESULTS}/logs/language_dimensionality_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            texts=TEXTS, ranks=plan.ranks(config), seen=config["language"]["seen"]
        ),
        code=fingerprint("language_dimensionality_table.py"),
    script:
        "../../scripts/language_dimensionality_table.py"


rule language_spectrum_figure:
    input:
        expand(f"{RESULTS}/language/spectra/{{text}}.parquet", text=TEXTS),
    output:
        f"{RESULTS}/figures/language_spectrum.png",
        report(
            f"{RESULTS}/figures/language_spectrum.svg",
            caption="../report/language_spectrum.rst",
            category="8 Saturation",
            labels={"result": "Beyond the thesis: W-error against dimensions"},
        ),
    log:
        f"{RESULTS}/logs/language_spectrum_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(texts=TEXTS, ranks=plan.ranks(config)),
        code=fingerprint("language_spectrum_figure.py"),
    script:
        "../../scripts/language_spectrum_figure.py"
