"""Which decoding method keeps most of the truth's nucleus for a given leak, at which temperature, in which order?

Needs: the logits of models and truths, and the models' heads: of the `distributions` of studies, where there are any, or
else of the family.
Makes: {folder}/scores/frontier/{model}.parquet; tables/frontier.{csv,md,html,tex};
figures/frontier_{temperature}.{png,svg,pdf}, or of each law frontier_{law}_{temperature}.
"""

FRONTIER = config["frontier"]
CUT = {
    (of["folder"], of["facts"]["model"]): of
    for of in plan.studies.distributions(config)
    or [
        {
            "folder": RESULTS,
            "facts": facts,
            "logits": LOGITS.format(model=facts["model"]),
            "truths": {truth: LOGITS.format(model=truth) for truth in TRUTHS},
        }
        for facts in compared_inside("family")
    ]
}
DRAWN = [  # a figure each
    {"law": law, "temperature": temperature}
    for law in dict.fromkeys(of["facts"].get("law") for of in CUT.values())
    for temperature in (FRONTIER["temperatures"] if FRONTIER["methods"] else [])
]
FRONTIER_FIGURES = [
    figure(
        "_".join(filter(None, ["frontier", of["law"], f"{of['temperature']:g}"])),
        "6 Decoding",
        " ".join(filter(None, ["Frontiers", of["law"], f"at temperature {of['temperature']:g}"])),
    )
    for of in DRAWN
]


if FRONTIER["methods"] and CUT:

    rule frontier:
        input:
            model=lambda wildcards: CUT[wildcards.folder, wildcards.model]["logits"],
            truths=lambda wildcards: list(CUT[wildcards.folder, wildcards.model]["truths"].values()),
            weights=lambda wildcards: (
                (CUT[wildcards.folder, wildcards.model].get("weights") or head_of(wildcards))
                if FRONTIER["deltas"]
                else []
            ),
        output:
            "{folder}/scores/frontier/{model}.parquet",
        log:
            "{folder}/logs/frontier/{model}.log",
        wildcard_constraints:
            folder=one_of({folder for folder, _ in CUT}),
            model=one_of({model for _, model in CUT}),
        threads: 8
        resources:
            **per_attempt(mem_mb=2000, runtime=240),
        params:
            settings=lambda wildcards: settings(
                **{key: FRONTIER[key] for key in ("methods", "temperatures", "deltas", "per_window")},
                tau=config["metrics"]["tau"],
                truths=list(CUT[wildcards.folder, wildcards.model]["truths"]),
            ),
            by_name=decoding_code([{"name": name} for name in ("pure", "greedy", *FRONTIER["methods"])]),
        script:
            "measure.py"

    rule frontier_table:
        input:
            [f"{folder}/scores/frontier/{model}.parquet" for folder, model in CUT],
        output:
            **table("frontier", "6 Decoding", "What methods keep and leak", latex=False),
            **{kind: [paths[kind] for paths in FRONTIER_FIGURES] for kind in ("png", "pdf", "svg")},
        params:
            settings=settings(
                **config["statistics"],
                reference=FRONTIER["reference"],
                figures=DRAWN,
                models=[of["facts"] for of in CUT.values()],
            ),
        script:
            "show.py"
