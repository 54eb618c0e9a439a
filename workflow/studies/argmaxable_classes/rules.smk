"""Bytes or tokens that a model can never predict, whatever its input.

Needs: the weights of the family.
Makes: argmaxability/{model}.parquet.
"""

if RUN.known_inside:

    rule argmaxability:
        input:
            hidden=RUN.hidden if STATES else [],
            weights=head_of,
        output:
            f"{RUN.results}/argmaxability/{{model}}.parquet",
        wildcard_constraints:
            model=one_of(RUN.known_inside),
        resources:
            **per_attempt(mem_mb=2000, runtime=30),
        params:
            **measured("argmaxability"),
            settings=settings(),
        script:
            step("measure.py")
