"""Models of several sizes: what is measured of each, what best heads force, and a law that predicts sizes held out.

Needs: windows, the text of the run, and the logits of the truth that stays. `train` and `logits` make the models of each
size and the logits of its own truths, as `texts_read` of the plan has them.
Makes: ladder/SIZE/ladder/{model}.parquet, {text}ladder_best/{model}-rank{rank}.parquet, scale_predictions.parquet.
"""

from studies.size_ladder import plan as size_ladder

LADDER = {size.folder: size for size in size_ladder.sizes(config)}
OWN_TRUTHS = lambda wildcards: size_ladder.truths_of(config, LADDER[wildcards.text], model_of(wildcards))
BEST_STARTS = {(of["text"], of["truth"], str(of["rank"])): of["start"] for of in size_ladder.best_heads(config)}
LADDER_WEIGHTS = RUN.on_any_text(RUN.weights)
STAYS = config["size_ladder"]["truth"]


if LADDER:

    rule climb:
        input:
            weights=LADDER_WEIGHTS,
            windows=RUN.windows,
            truths=lambda wildcards: [
                *RUN.of(RUN.logits, OWN_TRUTHS(wildcards), wildcards.text),
                RUN.logits.format(model=STAYS),
            ],
        output:
            size_ladder.measured(RUN),
        wildcard_constraints:
            text=one_of(LADDER),
            model=one_of(LEARNERS),
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=4000, runtime=60),
        params:
            settings=lambda wildcards: size_ladder.measure_settings(config, LADDER[wildcards.text], model_of(wildcards)),
            device=DEVICE,
        script:
            "measure.py"

    rule ladder_best:
        input:
            truth=LOGITS,
            start=lambda wildcards: LADDER_WEIGHTS.format(
                **dict(zip(["text", "model"], BEST_STARTS[wildcards.text, wildcards.model, wildcards.rank]))
            ),
        output:
            size_ladder.best(RUN),
        wildcard_constraints:
            text=one_of(dict.fromkeys(text for text, _, _ in BEST_STARTS)),
            model=one_of(dict.fromkeys(truth for _, truth, _ in BEST_STARTS)),
            rank="[0-9]+",
        resources:
            **per_attempt(mem_mb=2000, runtime=60),
        params:
            settings=lambda wildcards: settings(
                rank=int(wildcards.rank), per_window=config["size_ladder"]["best_per_window"]
            ),
        script:
            "best.py"

    if size_ladder.held_out_places(config) and not config["size_ladder"]["ladder"]:

        rule predict_scale:
            input:
                RUN.table("scale_by_seed"),
            output:
                size_ladder.predictions(RUN),
            params:
                settings=size_ladder.law_settings(config),
            script:
                "predict.py"
