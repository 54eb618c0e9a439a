"""A learning rate of its own for each member of the family, where the config has several tried.

Needs: the histories of the trials, which are trained like the family, with a seed of their own.
Makes: learning_rates/{arm}.json, which the trainings of the arm depend on; tables/learning_rates.{csv,md,html,tex}.
"""


use rule train as train_trial with:
    wildcard_constraints:
        model=one_of(TRIALS),


rule choose_learning_rate:
    input:
        lambda wildcards: [HISTORY.format(model=name) for name in TRIED[wildcards.arm]],
    output:
        f"{RESULTS}/learning_rates/{{arm}}.json",
    wildcard_constraints:
        arm=one_of(TRIED),
    localrule: True
    params:
        settings=lambda wildcards: settings(
            trials=[
                {"model": name, "learning_rate": TRIALS[name].settings["training"]["learning_rate"]}
                for name in TRIED[wildcards.arm]
            ]
        ),
    script:
        step("choose_learning_rate.py")


if TRIED:

    rule learning_rates_table:
        input:
            expand(f"{RESULTS}/learning_rates/{{arm}}.json", arm=TRIED),
        output:
            **table("learning_rates", "9 Gradient", "Learning rates tried and chosen"),
        script:
            step("learning_rates_table.py")
