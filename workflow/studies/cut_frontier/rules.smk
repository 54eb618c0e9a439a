"""Which decoding method keeps most of the truth's nucleus for a given leak, at which temperature, in which order?

Needs: the logits of models and truths, and the models' heads: of those in DISTRIBUTIONS, where a study adds any, or else
of the family.
Makes: {folder}/scores/frontier/{model}.parquet; tables/frontier.{csv,md,html,tex};
figures/frontier_{temperature}.{png,svg,pdf}.
"""

FRONTIER = config["frontier"]
CUT = {
    (of["folder"], of["facts"]["model"]): of
    for of in DISTRIBUTIONS
    or [
        {
            "folder": RESULTS,
            "facts": facts,
            "logits": LOGITS.format(model=facts["model"]),
            "truths": {truth: LOGITS.format(model=truth) for truth in TRUTHS},
        }
        for facts in plan.thesis.compared(config, "family")
    ]
}
OF_TEMPERATURES = [
    figure(f"frontier_{temperature:g}", "6 Decoding", f"Frontiers at temperature {temperature:g}", caption="figure.rst")
    for temperature in (FRONTIER["temperatures"] if FRONTIER["methods"] else [])
]


if FRONTIER["methods"]:

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
            **table("frontier", "6 Decoding", "What methods keep and leak", latex=False, caption="table.rst"),
            png=[paths["png"] for paths in OF_TEMPERATURES],
            pdf=[paths["pdf"] for paths in OF_TEMPERATURES],
            svg=[paths["svg"] for paths in OF_TEMPERATURES],
        params:
            settings=settings(
                **config["statistics"],
                reference=FRONTIER["reference"],
                temperatures=FRONTIER["temperatures"],
                drawn=FRONTIER["drawn"],
                models=[of["facts"] for of in CUT.values()],
            ),
        script:
            "show.py"
