"""Cost of the metrics in seconds per position, with TBAT as published and as computed here; over bytes alone.

Needs: the logits of the family and of the first truth, the family's heads, and the thesis's Table I.1.
Makes: metric_cost.parquet; tables/metric_cost.{csv,md,html,tex}; figures/metric_cost.{png,svg,pdf}.
"""

if OVER_BYTES and KNOWN_INSIDE:

    # All cores, though one is used, so that nothing runs beside the timing; on a cluster the job has a core of its own.
    rule costs:
        input:
            logits=expand(LOGITS, model=KNOWN_INSIDE),
            truth=f"{RESULTS}/logits/{TRUTHS[0]}.parquet",
            weights=expand(WEIGHTS, model=KNOWN_INSIDE),
        output:
            f"{RESULTS}/metric_cost.parquet",
        threads: workflow.resource_settings.cores or 1
        resources:
            **per_attempt(mem_mb=2000, runtime=600),
        params:
            settings=settings(**config["costs"], tau=config["metrics"]["tau"], delta=TBAT["delta"], models=KNOWN_INSIDE),
        script:
            "measure.py"

    rule metric_cost_table:
        input:
            costs=f"{RESULTS}/metric_cost.parquet",
            published=published("i_1"),
        output:
            **table("metric_cost", "4 Oversmoothing", "Table I.1: cost of the metrics"),
            **figure("metric_cost", "4 Oversmoothing", "Table I.1: cost of the metrics, drawn"),
        params:
            settings=settings(models=compared_inside("family")),
        script:
            "table.py"
