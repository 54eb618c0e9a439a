"""What the head forces along training, and the rest, from the table of a study.

Needs: tables/along_training.csv.
Makes: figures/forced_along_training.{png,svg,pdf}.
"""

if (
    any(model.kind == "family" for model in SNAPSHOTS)
    and config["dynamics"]["forced_per_window"]
):

    rule forced_along_training_figure:
        input:
            f"{RESULTS}/tables/along_training.csv",
        output:
            **figure(
                "forced_along_training",
                category="8 Small models",
                label="Along training: what the head forces, and the rest",
            ),
        script:
            step("forced_along_training_figure.py")
