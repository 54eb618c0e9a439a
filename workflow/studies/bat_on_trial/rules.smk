"""Is what BAT assumes of the truth true, and what does it reject where half of it is, and where a law has zeros?

Needs: the heads of the family, and its logits and the truths'; of laws that give some bytes nothing, their logits, and the
heads, logits and scores of the models that learn their texts.
Makes: scores/bat_premise/{model}.parquet; tables/bat_premise.{csv,md,html,tex}; laws/{text}/scores/{trial,impossible}/;
tables/bat_on_trial.{csv,md,html,tex}.
"""

from studies.bat_on_trial.rivals import RIVALS

ON_TRIAL = [(text, model) for text, model in PAIRS if LAWS[LEARNED[text].law].has_zeros]

if TBAT["premise_per_window"] and LINEAR:

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
            "premise.py"

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
            "show_premise.py"


if ON_TRIAL:

    rule bat_on_trial:
        input:
            weights=LEARNED_WEIGHTS,
            model=LEARNED_LOGITS,
            law=lambda wildcards: LAW_LOGITS.format(law=LEARNED[wildcards.text].law),
        output:
            trial=f"{OF_TEXT}/scores/trial/{{model}}.parquet",
            positions=f"{OF_TEXT}/scores/impossible/{{model}}.parquet",
        wildcard_constraints:
            **LEARNING | {"text": one_of({text for text, _ in ON_TRIAL})},
        resources:
            **per_attempt(mem_mb=2000, runtime=120),
        params:
            settings=settings(per_window=FORCED["per_window"]),
            by_name=decoding_code([{"name": rival.name} for rival in RIVALS]),
        script:
            "trial.py"

    rule bat_on_trial_table:
        input:
            **{name: scores_on_law(name, ON_TRIAL) for name in ("trial", "impossible", "nsmd", "forced")},
        output:
            **table("bat_on_trial", "0 Findings", "BAT on trial, where the truth is known"),
        params:
            settings=settings(learners=known_law.rows(config)),
        script:
            "show_trial.py"
