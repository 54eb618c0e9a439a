"""The family beside full heads that predict worse, at equal loss: quality of the controls' samples.

Needs: weights of the controls, and the study `sample_quality`.
Makes: with `sample_quality` equal_loss/samples/{model}.parquet and equal_loss/quality/{model}.parquet.
"""

from studies.leak_at_equal_loss import plan as equal_loss

CONTROLS = [row["model"] for row in equal_loss.compared(config) if row["kind"] != "family"]
OF_CONTROLS = {part: f"{RUN.results}/{equal_loss.FOLDER}{part}/{{model}}.parquet" for part in ("samples", "quality")}


if CONTROLS and "sample_quality" in config["studies"]:

    use rule sample as sample_control with:
        output:
            OF_CONTROLS["samples"],
        wildcard_constraints:
            model=one_of(CONTROLS),
        params:
            settings=plan.samples.sampling_settings(config, [PURE]),
            by_name=decoding_code([PURE]),

    use rule quality as control_quality with:
        input:
            windows=RUN.windows,
            human_features=HUMAN_FEATURES,
            samples=[OF_CONTROLS["samples"]],
            language_model=LANGUAGE_MODEL,
        output:
            OF_CONTROLS["quality"],
        wildcard_constraints:
            model=one_of(CONTROLS),
        params:
            settings=lambda wildcards: judging.quality_settings(config, RUN.models[wildcards.model], ["pure"]),
