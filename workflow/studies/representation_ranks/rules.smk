"""Effective ranks of the models' representations.

Needs: logits, hidden states and weights of the family; the thesis's Table 7.3.
Makes: ranks/{model}.parquet; tables/effective_rank.{csv,md,html,tex} (Table 7.3).
"""

if KNOWN_INSIDE:

    rule ranks:
        input:
            logits=LOGITS,
            hidden=HIDDEN,
            weights=head_of,
        output:
            f"{RESULTS}/ranks/{{model}}.parquet",
        wildcard_constraints:
            model=one_of(KNOWN_INSIDE),
        resources:
            **per_attempt(mem_mb=2000, runtime=30),
        params:
            **measured("ranks"),
            settings=settings(**config["ranks"]),
        script:
            step("measure.py")

    rule effective_rank_table:
        input:
            ranks=expand(f"{RESULTS}/ranks/{{model}}.parquet", model=KNOWN_INSIDE),
            published=published("7_3"),
        output:
            **table("effective_rank", "7 Rank", "Table 7.3: effective ranks"),
        params:
            settings=settings(models=compared_inside("family"), positions=config["ranks"]["positions"]),
        script:
            "table.py"
