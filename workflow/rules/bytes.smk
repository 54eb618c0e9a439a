"""Byte by byte: how often each is a model's most probable one, and how much the model oversmooths where it is right.

Needs: logits of the truths and the family, the family's NSMD; the training text for the chart.
Makes: bytes/{model}.parquet; tables/bytes.{csv,md,html,tex}; figures/byte_oversmoothing.{png,svg} (Figure 4.2),
figures/argmax_frequency (4.3), figures/utf8_bytes (A.1).
"""

BY_BYTE = [
    {
        "model": model.name,
        "kind": model.kind,
        "rank": model.rank,
        "seed": model.seed,
    }
    for kind in ("truth", "family")
    for model in MODELS.values()
    if model.kind == kind
]


rule bytes:
    input:
        logits=f"{RESULTS}/logits/{{model}}.parquet",
        nsmd=f"{RESULTS}/scores/nsmd/{{model}}.parquet",
    output:
        f"{RESULTS}/bytes/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/bytes/{{model}}.log",
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.kind == "family"),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(1000),
        runtime=plan.growing(30),
    params:
        code=fingerprint("bytes.py"),
    script:
        "../../scripts/bytes.py"


use rule bytes as bytes_truth with:
    input:
        logits=f"{RESULTS}/logits/{{model}}.parquet",
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.kind == "truth"),


rule bytes_table:
    input:
        expand(
            f"{RESULTS}/bytes/{{model}}.parquet",
            model=[row["model"] for row in BY_BYTE],
        ),
    output:
        csv=f"{RESULTS}/tables/bytes.csv",
        markdown=f"{RESULTS}/tables/bytes.md",
        html=report(
            f"{RESULTS}/tables/bytes.html",
            caption="../report/bytes.rst",
            category="4 Oversmoothing",
            labels={"result": "Beside Figures 4.2, 4.3: byte by byte"},
        ),
        latex=f"{RESULTS}/tables/bytes.tex",
    log:
        f"{RESULTS}/logs/bytes_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(**config["statistics"], models=BY_BYTE),
        code=fingerprint("bytes_table.py"),
    script:
        "../../scripts/bytes_table.py"


rule byte_oversmoothing_figure:
    input:
        f"{RESULTS}/tables/bytes.csv",
    output:
        f"{RESULTS}/figures/byte_oversmoothing.png",
        report(
            f"{RESULTS}/figures/byte_oversmoothing.svg",
            caption="../report/byte_oversmoothing.rst",
            category="4 Oversmoothing",
            labels={"result": "Figure 4.2: oversmoothing by byte"},
        ),
    log:
        f"{RESULTS}/logs/byte_oversmoothing_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(models=BY_BYTE, truth=TRUTHS[0]),
        code=fingerprint("byte_oversmoothing_figure.py"),
    script:
        "../../scripts/byte_oversmoothing_figure.py"


rule argmax_frequency_figure:
    input:
        f"{RESULTS}/tables/bytes.csv",
    output:
        f"{RESULTS}/figures/argmax_frequency.png",
        report(
            f"{RESULTS}/figures/argmax_frequency.svg",
            caption="../report/argmax_frequency.rst",
            category="4 Oversmoothing",
            labels={"result": "Figure 4.3: argmaxes by byte"},
        ),
    log:
        f"{RESULTS}/logs/argmax_frequency_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(models=BY_BYTE),
        code=fingerprint("argmax_frequency_figure.py"),
    script:
        "../../scripts/argmax_frequency_figure.py"


rule utf8_bytes_figure:
    input:
        training=ancient(CORPUS["train"]),
        manifest=MANIFEST,
    output:
        f"{RESULTS}/figures/utf8_bytes.png",
        report(
            f"{RESULTS}/figures/utf8_bytes.svg",
            caption="../report/utf8_bytes.rst",
            category="3 Models",
            labels={"result": "Figure A.1: bytes in UTF-8"},
        ),
    log:
        f"{RESULTS}/logs/utf8_bytes_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        code=fingerprint("utf8_bytes_figure.py"),
    script:
        "../../scripts/utf8_bytes_figure.py"
