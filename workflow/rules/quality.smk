"""Quality of the samples: perplexity, repetition, MAUVE, byte TV, valid words, word length.

Needs: samples/{model}/{decoding}.parquet, windows.parquet, the corpus, and the language model that
`quality.language_model` names, or else one trained here; the thesis's tables.
Makes: language_model/, second_windows.parquet, quality/{model}.parquet, human_quality.parquet,
tables/sample_quality.{csv,md,html,tex} (Tables 5.3, 6.2, 6.3 and H.1); figures/byte_frequency.{png,svg,pdf} (Figure 5.1).
"""

LANGUAGE_MODEL = (
    MANIFEST_OF.format(asset=plan.hub.asset_name(*plan.assets.language_model(config)))
    if config["quality"]["language_model"]
    else f"{RESULTS}/language_model"
)
MEASURED = {
    key: config["quality"][key] for key in config["quality"] if key != "language_model"
}


rule train_language_model:
    input:
        training=ancient(CORPUS["train"]),
        manifest=MANIFEST,
    output:
        directory(f"{RESULTS}/language_model"),
    threads: config["language_model"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=4000, runtime=60),
    params:
        settings=settings(**config["language_model"]),
        device=DEVICE,
    script:
        step("train_language_model.py")


rule draw_second_windows:
    input:
        **TOKENS,
        evaluation=ancient(CORPUS["evaluation"]),
        manifest=MANIFEST,
    output:
        f"{RESULTS}/second_windows.parquet",
    resources:
        **per_attempt(mem_mb=1000, runtime=10),
    params:
        settings=settings(**config["windows"]),
    script:
        step("draw_second_windows.py")


rule quality:
    input:
        windows=WINDOWS,
        samples=lambda wildcards: expand(
            SAMPLES, model=wildcards.model, decoding=JUDGED[wildcards.model]
        ),
        language_model=LANGUAGE_MODEL,
    output:
        f"{RESULTS}/quality/{{model}}.parquet",
    threads: config["quality"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(
            mem_mb=8000 if config["quality"]["language_model"] else 2000, runtime=240
        ),
    params:
        settings=lambda wildcards: settings(
            **MEASURED,
            sets=JUDGED[wildcards.model],
            column="continuation",
        ),
        language_model=config["quality"]["language_model"],
        device=DEVICE,
    script:
        step("quality.py")


use rule quality as human_quality with:
    input:
        windows=WINDOWS,
        samples=[WINDOWS, f"{RESULTS}/second_windows.parquet"],
        language_model=LANGUAGE_MODEL,
    output:
        f"{RESULTS}/human_quality.parquet",
    params:
        settings=settings(
            **MEASURED,
            sets=["first", "second"],
            column="scored",
        ),
        language_model=config["quality"]["language_model"],
        device=DEVICE,


rule quality_table:
    input:
        quality=expand(f"{RESULTS}/quality/{{model}}.parquet", model=JUDGED),
        human=f"{RESULTS}/human_quality.parquet",
        published=published("5_3", "6_2", "6_3"),
        published_svd=published("h_1")[0],
    output:
        **table(
            "sample_quality",
            category="5 Samples",
            label="Tables 5.3, 6.2, 6.3, H.1: sample quality",
        ),
    params:
        settings=settings(
            **config["statistics"],
            completed=config["quality"]["completed"],
            windows=config["windows"],
            family=plan.thesis.compared(config, "family"),
            truths=plan.thesis.compared(config, "truth"),
            svd=plan.thesis.compared(config, "svd"),
            **OF_UNIT,
        ),
    script:
        step("quality_table.py")


rule byte_frequency_figure:
    input:
        windows=WINDOWS,
        samples=expand(f"{RESULTS}/samples/{{model}}/pure.parquet", model=FAMILY),
    output:
        **figure(
            "byte_frequency",
            category="5 Samples",
            label="Figure 5.1: bytes in samples",
        ),
    params:
        settings=settings(
            models=[{"model": name, "rank": MODELS[name].rank} for name in FAMILY]
        ),
    script:
        step("byte_frequency_figure.py")
