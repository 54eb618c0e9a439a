"""The family beside full heads that predict worse, at equal loss: leak, divergence and quality of samples.

Needs: weights, histories, logits and scores of the family and of the controls; with the study `sample_quality`, quality
of the family's samples.
Makes: tables/equal_loss.{csv,md,html,tex}, figures/equal_loss.{png,svg,pdf}; with `sample_quality`
equal_loss/samples/{model}.parquet and equal_loss/quality/{model}.parquet.
"""

from studies.leak_at_equal_loss import plan as equal_loss

AT_EQUAL_LOSS = equal_loss.compared(config)
CONTROLS = [row["model"] for row in AT_EQUAL_LOSS if row["kind"] != "family"]
RANKED = [row["model"] for row in AT_EQUAL_LOSS if row["kind"] == "family"]
OF_CONTROLS = {part: f"{RESULTS}/equal_loss/{part}/{{model}}.parquet" for part in ("samples", "quality")}

QUALITY_AT_EQUAL_LOSS = []  # files

if AT_EQUAL_LOSS and "sample_quality" in config["studies"]:
    QUALITY_AT_EQUAL_LOSS = expand(QUALITY, model=RANKED) + expand(OF_CONTROLS["quality"], model=CONTROLS)

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
            windows=WINDOWS,
            human_features=HUMAN_FEATURES,
            samples=[OF_CONTROLS["samples"]],
            language_model=LANGUAGE_MODEL,
        output:
            OF_CONTROLS["quality"],
        wildcard_constraints:
            model=one_of(CONTROLS),
        params:
            settings=lambda wildcards: judging.quality_settings(config, MODELS[wildcards.model], ["pure"]),


if AT_EQUAL_LOSS:

    rule equal_loss_table:
        input:
            histories=[HISTORY.format(model=row["model"]) for row in AT_EQUAL_LOSS],
            logits=[LOGITS.format(model=row["model"]) for row in AT_EQUAL_LOSS],
            scores=scores(AGAINST_TRUTHS, [row["model"] for row in AT_EQUAL_LOSS]),
            quality=QUALITY_AT_EQUAL_LOSS,
        output:
            **table("equal_loss", "0 Findings", "Ranks at equal loss: the numbers"),
            **figure("equal_loss", "0 Findings", "Ranks at equal loss"),
        params:
            settings=settings(models=AT_EQUAL_LOSS, truths=TRUTHS),
        script:
            "show.py"
