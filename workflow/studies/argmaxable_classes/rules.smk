"""Bytes or tokens that a model can never predict, whatever its input.

Needs: the weights of the family; the thesis's sets under resources/published/.
Makes: argmaxability/{model}.parquet; tables/argmaxability.{csv,md,html,tex} (Tables B.1 and B.2).
"""

if KNOWN_INSIDE:

    rule argmaxability:
        input:
            hidden=HIDDEN if STATES else [],
            weights=head_of,
        output:
            f"{RESULTS}/argmaxability/{{model}}.parquet",
        wildcard_constraints:
            model=one_of(KNOWN_INSIDE),
        resources:
            **per_attempt(mem_mb=2000, runtime=30),
        params:
            **measured("argmaxability"),
            settings=settings(),
        script:
            step("measure.py")

    rule argmaxability_table:
        input:
            vocabulary=VOCABULARY,
            classes=expand(f"{RESULTS}/argmaxability/{{model}}.parquet", model=KNOWN_INSIDE),
            published=published("b"),
        output:
            **table("argmaxability", "4 Oversmoothing", f"Tables B.1, B.2: unargmaxable {UNIT}s"),
        params:
            settings=settings(models=compared_inside("family")),
        script:
            "table.py"
