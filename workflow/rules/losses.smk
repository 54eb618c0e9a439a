"""Losses and accuracy of the models, and the course of their training.

Needs: the histories of the models trained here, and logits; the thesis's Table 3.1.
Makes: tables/losses.{csv,md,html,tex} (Table 3.1); figures/losses.{png,svg,pdf} (Figure 3.1).
"""


rule losses_table:
    input:
        windows=WINDOWS,
        histories=[HISTORY.format(model=model.name) for model in TRAINED],
        logits=[LOGITS.format(model=model.name) for model in PREDICTORS],
        published=published("3_1"),
    output:
        **table("losses", "3 Models", "Table 3.1: losses and accuracies"),
    params:
        settings=settings(
            **config["statistics"],
            unit=UNIT,
            **({"on_windows": True} if BYTE_VIEWS else {}),  # which have no loss of a training
            models=plan.thesis.compared(config, "family") + plan.thesis.compared(config, "truth", itself=True),
        ),
    script:
        step("losses_table.py")


if TRAINED:

    rule losses_figure:
        input:
            [HISTORY.format(model=model.name) for model in TRAINED],
        output:
            **figure("losses", "3 Models", "Figure 3.1: losses along training"),
        params:
            settings=settings(
                unit=UNIT,
                models=[{"model": model.name, "kind": model.kind, "rank": model.rank} for model in TRAINED],
                truths=TRUTHS,
            ),
        script:
            step("losses_figure.py")
