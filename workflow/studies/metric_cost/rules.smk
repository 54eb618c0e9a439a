"""Cost of the metrics in seconds per position, with TBAT as published and as computed here; over bytes alone.

Needs: the logits of the family and of the first truth, and the family's heads.
Makes: metric_cost.parquet.
"""

if RUN.over_bytes and RUN.known_inside:

    # All cores, though one is used, so that nothing runs beside the timing; on a cluster the job has a core of its own.
    rule costs:
        input:
            logits=expand(RUN.logits, model=RUN.known_inside),
            truth=f"{RUN.results}/logits/{RUN.truths[0]}.parquet",
            weights=expand(RUN.weights, model=RUN.known_inside),
        output:
            f"{RUN.results}/metric_cost.parquet",
        threads: workflow.resource_settings.cores or 1
        resources:
            **per_attempt(mem_mb=2000, runtime=600),
        params:
            settings=settings(
                **config["costs"], tau=config["metrics"]["tau"], delta=TBAT["delta"], models=RUN.known_inside
            ),
        script:
            "measure.py"
