"""For each byte or token: how often it is a model's argmax, and its oversmoothing where it is the correct one.

Needs: logits of the truths and the family, the family's NSMD.
Makes: bytes/{model}.parquet.
"""


rule bytes:
    input:
        logits=RUN.logits,
        nsmd=lambda wildcards: (
            f"{RUN.results}/scores/nsmd/{wildcards.model}.parquet" if wildcards.model in RUN.family else []
        ),
    output:
        f"{RUN.results}/bytes/{{model}}.parquet",
    wildcard_constraints:
        model=one_of([*RUN.family, *RUN.truths]),
    resources:
        **per_attempt(mem_mb=1000, runtime=30),
    script:
        "measure.py"
