"""How the samples read: perplexity, repetition, MAUVE, byte TV, valid words, word length.

Needs: samples/{model}/{decoding}.parquet, windows.parquet, the corpus, and the language model that
`quality.language_model` names, or else one trained here; the thesis's tables (PUBLISHED, from tables.smk).
Makes: language_model/, second_windows.parquet, quality/{model}.parquet, human_quality.parquet,
tables/sample_quality.{csv,md,html,tex} (Tables 5.3, 6.2, 6.3 and H.1).
"""

LANGUAGE_MODEL = (
    MANIFEST_OF.format(asset=plan.asset(*plan.language_model(config)))
    if config["quality"]["language_model"]
    else f"{RESULTS}/language_model"
)


rule train_language_model:
    input:
        training=ancient(CORPUS["train"]),
        manifest=MANIFEST,
    output:
        directory(f"{RESULTS}/language_model"),
    log:
        f"{RESULTS}/logs/train_language_model.log",
    conda:
        ENVIRONMENT
    threads: config["language_model"]["threads"]
    resources:
        gpu=GPUS,
        gpu_job=GPUS,
        mem_mb=plan.growing(4000),
        runtime=plan.growing(60),
    params:
        settings=settings(**config["language_model"]),
        device=lambda wildcards, output: config["device"],
        code=fingerprint("train_language_model.py"),
    script:
        "../../scripts/train_language_model.py"


rule draw_second_windows:
    input:
        evaluation=ancient(CORPUS["evaluation"]),
        manifest=MANIFEST,
    output:
        f"{RESULTS}/second_windows.parquet",
    log:
        f"{RESULTS}/logs/draw_second_windows.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(1000),
        runtime=plan.growing(10),
    params:
        settings=settings(**config["windows"]),
        code=fingerprint("draw_second_windows.py"),
    script:
        "../../scripts/draw_second_windows.py"


rule quality:
    input:
        windows=f"{RESULTS}/windows.parquet",
        samples=lambda wildcards: expand(
            f"{RESULTS}/samples/{{model}}/{{decoding}}.parquet",
            model=wildcards.model,
            decoding=SAMPLED[wildcards.model],
        ),
        language_model=LANGUAGE_MODEL,
    output:
        f"{RESULTS}/quality/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/quality/{{model}}.log",
    conda:
        ENVIRONMENT
    threads: config["quality"]["threads"]
    resources:
        gpu=GPUS,
        gpu_job=GPUS,
        mem_mb=plan.growing(8000 if config["quality"]["language_model"] else 2000),
        runtime=plan.growing(240),
    params:
        settings=lambda wildcards: settings(
            **{
                key: value
                for key, value in config["quality"].items()
                if key != "language_model"
            },
            sets=SAMPLED[wildcards.model],
            column="continuation",
        ),
        language_model=config["quality"]["language_model"],
        device=lambda wildcards, output: config["device"],
        code=fingerprint("quality.py"),
    script:
        "../../scripts/quality.py"


use rule quality as human_quality with:
    input:
        windows=f"{RESULTS}/windows.parquet",
        samples=[f"{RESULTS}/windows.parquet", f"{RESULTS}/second_windows.parquet"],
        language_model=LANGUAGE_MODEL,
    output:
        f"{RESULTS}/human_quality.parquet",
    log:
        f"{RESULTS}/logs/human_quality.log",
    params:
        settings=settings(
            **{
                key: value
                for key, value in config["quality"].items()
                if key != "language_model"
            },
            sets=["first", "second"],
            column="scored",
        ),
        language_model=config["quality"]["language_model"],
        device=lambda wildcards, output: config["device"],
        code=fingerprint("quality.py"),


rule quality_table:
    input:
        quality=expand(f"{RESULTS}/quality/{{model}}.parquet", model=SAMPLED),
        human=f"{RESULTS}/human_quality.parquet",
        published=[
            f"{PUBLISHED}/table_5_3.csv",
            f"{PUBLISHED}/table_6_2.csv",
            f"{PUBLISHED}/table_6_3.csv",
        ],
        published_svd=f"{PUBLISHED}/table_h_1.csv",
    output:
        csv=f"{RESULTS}/tables/sample_quality.csv",
        markdown=f"{RESULTS}/tables/sample_quality.md",
        html=report(
            f"{RESULTS}/tables/sample_quality.html",
            caption="../report/sample_quality.rst",
            category="5 Samples",
            labels={"result": "Tables 5.3, 6.2, 6.3, H.1: sample quality"},
        ),
        latex=f"{RESULTS}/tables/sample_quality.tex",
    log:
        f"{RESULTS}/logs/quality_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            **config["statistics"],
            completed=config["quality"]["completed"],
            windows=config["windows"],
            family=plan.table_rows(config, "family", plan.OF_SCORES),
            truths=plan.table_rows(config, "truth", plan.OF_SCORES),
            svd=plan.table_rows(config, "svd", plan.OF_SCORES),
        ),
        code=fingerprint("quality_table.py"),
    script:
        "../../scripts/quality_table.py"
