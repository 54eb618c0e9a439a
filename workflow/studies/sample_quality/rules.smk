"""Quality of the samples: perplexity, repetition, MAUVE, byte TV, valid words, word length.

Needs: samples/{model}/{decoding}.parquet, windows.parquet, the corpus, and the language model that
`quality.language_model` names, or else one trained here.
Makes: language_model/, second_windows.parquet, human_features.parquet, quality/{model}.parquet and
human_quality.parquet.
"""

from studies.sample_quality import plan as judging

if RUN.judged:

    QUALITY = judging.quality(RUN)
    HUMAN_FEATURES = f"{RUN.results}/human_features.parquet"
    JUDGE = judging.asset(config)
    LANGUAGE_MODEL = RUN.manifest_of.format(asset=JUDGE) if JUDGE else f"{RUN.results}/language_model"

    rule train_language_model:
        input:
            training=ancient(RUN.corpus["train"]),
            manifest=RUN.manifest,
        output:
            directory(f"{RUN.results}/language_model"),
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
            **RUN.tokens,
            evaluation=ancient(RUN.corpus["evaluation"]),
            manifest=RUN.manifest,
        output:
            f"{RUN.results}/second_windows.parquet",
        resources:
            **per_attempt(mem_mb=1000, runtime=10),
        params:
            settings=settings(**config["windows"]),
        script:
            "second_windows.py"

    rule human_features:
        input:
            windows=RUN.windows,
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
            windows=RUN.windows,
            human_features=HUMAN_FEATURES,
            samples=lambda wildcards: expand(RUN.samples, model=wildcards.model, decoding=RUN.judged[wildcards.model]),
            language_model=LANGUAGE_MODEL,
        output:
            QUALITY,
        threads: config["quality"]["threads"]
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=8000 if JUDGE else 2000, runtime=240),
        params:
            settings=lambda wildcards: judging.quality_settings(
                config, RUN.models[wildcards.model], RUN.judged[wildcards.model]
            ),
            language_model=config["quality"]["language_model"],
            device=DEVICE,
        script:
            step("studies/sample_quality/measure.py")

    use rule quality as human_quality with:
        input:
            windows=RUN.windows,
            human_features=HUMAN_FEATURES,
            samples=[RUN.windows, f"{RUN.results}/second_windows.parquet"],
            language_model=LANGUAGE_MODEL,
        output:
            f"{RUN.results}/human_quality.parquet",
        params:
            settings=judging.human_settings(config, ["first", "second"]),
