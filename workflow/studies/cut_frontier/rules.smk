"""Which decoding method keeps most of the truth's nucleus for a given leak, at which temperature, in which order?

Needs: the logits of models and truths, and the models' heads: of the `distributions` of studies, where there are any, or
else of the family.
Makes: {text}scores/frontier/{model}.parquet.
"""

from studies.cut_frontier import plan as cut_frontier

FRONTIER = config["frontier"]
CUT = cut_frontier.cut(RUN)


rule frontier:
    input:
        model=LOGITS,
        truths=lambda wildcards: list(CUT[wildcards.text, wildcards.model]["truths"].values()),
        weights=lambda wildcards: head_of(wildcards) if FRONTIER["deltas"] else [],
    output:
        SCORES.replace("{metric}", "frontier"),
    wildcard_constraints:
        text=one_of({text for text, _ in CUT}),
        model=one_of({model for _, model in CUT}),
    threads: 8
    resources:
        **per_attempt(mem_mb=2000, runtime=240),
    params:
        settings=lambda wildcards: settings(
            **{key: FRONTIER[key] for key in ("methods", "temperatures", "deltas", "per_window")},
            tau=config["metrics"]["tau"],
            truths=list(CUT[wildcards.text, wildcards.model]["truths"]),
        ),
        by_name=decoding_code([{"name": name} for name in ("pure", "greedy", *FRONTIER["methods"])]),
    script:
        "measure.py"
