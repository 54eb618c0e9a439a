"""For each byte or token: how often it is a model's argmax, and its oversmoothing where it is the correct one.

Needs: logits of the truths and the family, the family's NSMD; the training text for the chart.
Makes: bytes/{model}.parquet; tables/bytes.{csv,md,html,tex}, or over tokens tables/tokens; over bytes also
figures/byte_oversmoothing.{png,svg,pdf} (Figure 4.2), figures/argmax_frequency (4.3), figures/utf8_bytes (A.1).
"""

BY_BYTE = model_rows(MODELS, "truth", "family")


rule bytes:
    input:
        logits=LOGITS,
        nsmd=lambda wildcards: (f"{RESULTS}/scores/nsmd/{wildcards.model}.parquet" if wildcards.model in FAMILY else []),
    output:
        f"{RESULTS}/bytes/{{model}}.parquet",
    wildcard_constraints:
        model=one_of([*FAMILY, *TRUTHS]),
    resources:
        **per_attempt(mem_mb=1000, runtime=30),
    script:
        "measure.py"


rule bytes_table:
    input:
        vocabulary=VOCABULARY,
        training=ancient(CORPUS["train"]) if OVER_BYTES and TRAINED else [],
        manifest=MANIFEST if OVER_BYTES and TRAINED else [],
        sums=expand(f"{RESULTS}/bytes/{{model}}.parquet", model=[row["model"] for row in BY_BYTE]),
    output:
        **table(f"{UNIT}s", "4 Oversmoothing", f"Beside Figures 4.2, 4.3: {UNIT} by {UNIT}"),
    params:
        settings=settings(**config["statistics"], models=BY_BYTE),
    script:
        "table.py"


if OVER_BYTES:

    FIGURES_OF_BYTES = {
        "byte_oversmoothing": ("4 Oversmoothing", "Figure 4.2: oversmoothing by byte"),
        "argmax_frequency": ("4 Oversmoothing", "Figure 4.3: argmaxes by byte"),
        "utf8_bytes": ("3 Models", "Figure A.1: bytes in UTF-8"),
    }

    rule byte_figures:
        input:
            table=f"{RESULTS}/tables/bytes.csv",
            training=ancient(CORPUS["train"]),
            manifest=MANIFEST,
        output:
            **{name: [*figure(name, *shown).values()] for name, shown in FIGURES_OF_BYTES.items()},
        params:
            settings=settings(models=BY_BYTE, truths=TRUTHS),
        script:
            "figures.py"
