"""Is what BAT assumes of the truth true, and what are its sets where half of it is?

Needs: the heads of the family, and its logits and the truths'.
Makes: scores/bat_premise/{model}.parquet; tables/bat_premise.{csv,md,html,tex}.
"""

if TBAT["premise_per_window"] and LINEAR:
    TESTED.extend(scores(["bat_premise"], LINEAR))

    rule bat_premise:
        input:
            weights=head_of,
            model=LOGITS,
            truths=expand(LOGITS, model=TRUTHS),
        output:
            f"{RESULTS}/scores/bat_premise/{{model}}.parquet",
        wildcard_constraints:
            model=one_of(LINEAR),
        threads: 8
        resources:
            **per_attempt(mem_mb=2000, runtime=240),
        params:
            settings=settings(
                tau=config["metrics"]["tau"],
                delta=TBAT["delta"],
                mass_tolerance=TBAT["mass_tolerance"],
                per_window=TBAT["premise_per_window"],
                truths=TRUTHS,
            ),
        script:
            "measure.py"

    rule bat_premise_table:
        input:
            scores=scores(["bat_premise"], LINEAR),
        output:
            **table("bat_premise", "4 Oversmoothing", "Beyond the thesis: is BAT's premise true?"),
        params:
            settings=settings(
                **config["statistics"],
                models=[row for row in plan.thesis.compared(config, "family", []) if row["model"] in LINEAR],
            ),
        script:
            "show.py"
