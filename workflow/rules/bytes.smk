"""For each byte or token: how often it is a model's argmax, and its oversmoothing where it is the correct one.

Needs: logits of the truths and the family, the family's NSMD; the training text for the chart.
Makes: bytes/{model}.parquet; tables/bytes.{csv,md,html,tex}, or over tokens tables/tokens; over bytes also
figures/byte_oversmoothing.{png,svg,pdf} (Figure 4.2),
figures/argmax_frequency (4.3), figures/utf8_bytes (A.1).
"""

BY_BYTE = model_rows(MODELS, "truth", "family")


rule bytes:
    input:
        logits=LOGITS,
        nsmd=f"{RESULTS}/scores/nsmd/{{model}}.parquet",
    output:
        f"{RESULTS}/bytes/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/bytes/{{model}}.log",
    wildcard_constraints:
        model=one_of(FAMILY),
    resources:
        **per_attempt(mem_mb=1000, runtime=30),
    script:
        step("bytes.py")


use rule bytes as bytes_truth with:
    input:
        logits=LOGITS,
    wildcard_constraints:
        model=one_of(TRUTHS),


rule bytes_table:
    input:
        **VOCABULARY,
        sums=expand(
            f"{RESULTS}/bytes/{{model}}.parquet",
            model=[row["model"] for row in BY_BYTE],
        ),
    output:
        **table(
            "bytes" if OVER_BYTES else "tokens",
            category="4 Oversmoothing",
            label=f"Beside Figures 4.2, 4.3: {UNIT} by {UNIT}",
        ),
    params:
        settings=settings(**config["statistics"], models=BY_BYTE),
    script:
        step("bytes_table.py")


if OVER_BYTES:

    rule byte_oversmoothing_figure:
        input:
            f"{RESULTS}/tables/bytes.csv",
        output:
            **figure(
                "byte_oversmoothing",
                category="4 Oversmoothing",
                label="Figure 4.2: oversmoothing by byte",
            ),
        params:
            settings=settings(models=BY_BYTE, truth=TRUTHS[0]),
        script:
            step("byte_oversmoothing_figure.py")

    rule argmax_frequency_figure:
        input:
            f"{RESULTS}/tables/bytes.csv",
        output:
            **figure(
                "argmax_frequency",
                category="4 Oversmoothing",
                label="Figure 4.3: argmaxes by byte",
            ),
        params:
            settings=settings(models=BY_BYTE, truths=TRUTHS),
        script:
            step("argmax_frequency_figure.py")

    rule utf8_bytes_figure:
        input:
            training=ancient(CORPUS["train"]),
            manifest=MANIFEST,
        output:
            **figure(
                "utf8_bytes", category="3 Models", label="Figure A.1: bytes in UTF-8"
            ),
        script:
            step("utf8_bytes_figure.py")
