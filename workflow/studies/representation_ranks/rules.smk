"""Effective ranks of the models' representations.

Needs: logits, hidden states and weights of the family.
Makes: ranks/{model}.parquet.
"""

if RUN.known_inside:

    rule ranks:
        input:
            logits=RUN.logits,
            hidden=RUN.hidden,
            weights=head_of,
        output:
            f"{RUN.results}/ranks/{{model}}.parquet",
        wildcard_constraints:
            model=one_of(RUN.known_inside),
        resources:
            **per_attempt(mem_mb=2000, runtime=30),
        params:
            **measured("ranks"),
            settings=settings(**config["ranks"]),
        script:
            step("measure.py")
