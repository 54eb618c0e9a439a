"""The family against a truth that is trained here and against real language models, read byte by byte.

Needs: scores of the family and of the truths against all truths, what heads and best heads force of them.
Makes: tables/real_truth.{csv,md,html,tex}, figures/real_truth.{png,svg,pdf}.
"""

from studies.real_truth import plan as real_truth

if real_truth.compared(config):
    IN_REAL_TRUTH = [row["model"] for row in real_truth.members(config)]
    BEST_HEADS = scores(["best_head"], IN_REAL_TRUTH) if config["metrics"]["forced"]["best_head_per_window"] else []

    rule real_truth_table:
        input:
            scores=scores(AGAINST_TRUTHS, IN_REAL_TRUTH),
            truths=scores(AGAINST_TRUTHS, TRUTHS),
            forced=scores(["forced"], IN_REAL_TRUTH),
            best_heads=BEST_HEADS,
        output:
            **table("real_truth", "0 Findings", "Against a real language model: the numbers"),
            **figure("real_truth", "0 Findings", "Against a real language model"),
        params:
            settings=settings(
                **config["statistics"], models=real_truth.members(config), truths=real_truth.truths(config)
            ),
        script:
            "table.py"
