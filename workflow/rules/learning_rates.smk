"""A learning rate of its own for each member of the family, where the config has several tried.

Needs: the histories of the trials, which are trained like the family, with a seed of their own.
Makes: learning_rates/{arm}.json, which the trainings of the arm depend on.
"""


rule choose_learning_rate:
    input:
        lambda wildcards: [RUN.history.format(model=name) for name in RUN.tried[wildcards.arm]],
    output:
        f"{RUN.results}/learning_rates/{{arm}}.json",
    wildcard_constraints:
        arm=one_of(RUN.tried),
    localrule: True
    params:
        settings=lambda wildcards: settings(
            trials=[
                {"model": name, "learning_rate": RUN.trials[name].settings["training"]["learning_rate"]}
                for name in RUN.tried[wildcards.arm]
            ]
        ),
    script:
        step("choose_learning_rate.py")
