"""Quality of the samples: perplexity, repetition, MAUVE, byte TV, valid words, word length.

Needs: samples/{model}/{decoding}.parquet, windows.parquet, the corpus, and the language model that
`quality.language_model` names, or else one trained here; the thesis's tables.
Makes: language_model/, second_windows.parquet, human_features.parquet, quality/{model}.parquet,
human_quality.parquet, tables/sample_quality.{csv,md,html,tex} (Tables 5.3, 6.2, 6.3 and H.1);
figures/byte_frequency.{png,svg,pdf} (Figure 5.1).
"""

from studies.sample_quality import plan as judging

if JUDGED:

    QUALITY = f"{RESULTS}/quality/{{model}}.parquet"
    HUMAN_QUALITY = f"{RESULTS}/human_quality.parquet"
    HUMAN_FEATURES = f"{RESULTS}/human_features.parquet"
    JUDGE = judging.asset(config)
    LANGUAGE_MODEL = MANIFEST_OF.format(asset=JUDGE) if JUDGE else f"{RESULTS}/language_model"

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
            "language_model.py"

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
            "second_windows.py"

    rule human_features:
        input:
            windows=WINDOWS,
            language_model=LANGUAGE_MODEL,
        output:
            HUMAN_FEATURES,
        threads: config["quality"]["threads"]
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=8000 if JUDGE else 2000, runtime=240),
        params:
            settings=judging.reading_settings(config),
            language_model=config["quality"]["language_model"],
            device=DEVICE,
        script:
            "human_features.py"

    rule quality:
        input:
            windows=WINDOWS,
            human_features=HUMAN_FEATURES,
            samples=lambda wildcards: expand(SAMPLES, model=wildcards.model, decoding=JUDGED[wildcards.model]),
            language_model=LANGUAGE_MODEL,
        output:
            QUALITY,
        threads: config["quality"]["threads"]
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=8000 if JUDGE else 2000, runtime=240),
        params:
            settings=lambda wildcards: judging.quality_settings(
                config, MODELS[wildcards.model], JUDGED[wildcards.model]
            ),
            language_model=config["quality"]["language_model"],
            device=DEVICE,
        script:
            f"{workflow.basedir}/studies/sample_quality/measure.py"  # absolute, for rules of other studies that use this one

    use rule quality as human_quality with:
        input:
            windows=WINDOWS,
            human_features=HUMAN_FEATURES,
            samples=[WINDOWS, f"{RESULTS}/second_windows.parquet"],
            language_model=LANGUAGE_MODEL,
        output:
            HUMAN_QUALITY,
        params:
            settings=judging.human_settings(config, ["first", "second"]),

    rule sample_quality_table:
        input:
            quality=expand(QUALITY, model=JUDGED),
            human=HUMAN_QUALITY,
            windows=WINDOWS,
            second=f"{RESULTS}/second_windows.parquet",
            samples=expand(SAMPLES, model=KNOWN_INSIDE, decoding="pure"),
            published=published("5_3", "6_2", "6_3"),
            published_svd=published("h_1"),
        output:
            **table("sample_quality", "5 Samples", "Tables 5.3, 6.2, 6.3, H.1: sample quality"),
            **figure("byte_frequency", "5 Samples", "Figure 5.1: bytes in samples"),
        params:
            settings=settings(
                **config["statistics"],
                completed=config["quality"]["completed"],
                windows=config["windows"],
                family=compared_inside("family"),
                truths=compared_inside("truth"),
                svd=plan.thesis.compared(config, "svd"),
            ),
        script:
            "show.py"
