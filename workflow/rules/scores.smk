"""How far each model's distributions lie from each truth's, per byte, under every decoding.

Needs: the logits of the model and of the truths.
Makes: scores/{metric}/{model}.parquet.
"""


rule score:
    input:
        model=f"{RESULTS}/logits/{{model}}.parquet",
        truths=expand(f"{RESULTS}/logits/{{truth}}.parquet", truth=TRUTHS),
    output:
        **{metric: f"{RESULTS}/scores/{metric}/{{model}}.parquet" for metric in METRICS},
    log:
        f"{RESULTS}/logs/score/{{model}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        settings=settings(
            **config["metrics"], decodings=config["decodings"], truths=TRUTHS
        ),
        code=fingerprint("score.py"),
    script:
        "../../scripts/score.py"
