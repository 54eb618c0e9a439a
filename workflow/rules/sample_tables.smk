"""Samples as people read them, beside the human text.

Needs: the windows and the samples of every model under every decoding.
Makes: tables/samples.{csv,md,html} (Tables 5.1, 5.2 and G.1 to G.9); figures/byte_frequency.{png,svg} (Figure 5.1).
"""


rule samples_table:
    input:
        windows=f"{RESULTS}/windows.parquet",
        samples=[
            f"{RESULTS}/samples/{model}/{decoding}.parquet"
            for model, decodings in SAMPLED.items()
            for decoding in decodings
        ],
    output:
        csv=f"{RESULTS}/tables/samples.csv",
        markdown=f"{RESULTS}/tables/samples.md",
        html=report(
            f"{RESULTS}/tables/samples.html",
            caption="../report/samples.rst",
            category="5 Samples",
            labels={"result": "Tables 5.1, 5.2, G.1 to G.9: samples"},
        ),
    log:
        f"{RESULTS}/logs/samples_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            title="Samples by rank of what enters the LM head, and by decoding (Tables 5.1, 5.2 and G.1 to G.9)",
            show=config["samples"]["show"],
            models=[
                {
                    "model": model.name,
                    "kind": model.kind,
                    "rank": model.rank,
                    "seed": model.seed,
                }
                for model in MODELS.values()
            ],
        ),
        code=fingerprint("samples_table.py"),
    script:
        "../../scripts/samples_table.py"


rule byte_frequency_figure:
    input:
        windows=f"{RESULTS}/windows.parquet",
        samples=expand(
            f"{RESULTS}/samples/{{model}}/pure.parquet",
            model=plan.names(MODELS, "family"),
        ),
    output:
        f"{RESULTS}/figures/byte_frequency.png",
        report(
            f"{RESULTS}/figures/byte_frequency.svg",
            caption="../report/byte_frequency.rst",
            category="5 Samples",
            labels={"result": "Figure 5.1: bytes in samples"},
        ),
    log:
        f"{RESULTS}/logs/byte_frequency_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            models=[
                {"model": name, "rank": MODELS[name].rank}
                for name in plan.names(MODELS, "family")
            ]
        ),
        code=fingerprint("byte_frequency_figure.py"),
    script:
        "../../scripts/byte_frequency_figure.py"
