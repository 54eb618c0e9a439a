"""What the metrics cost: seconds for one position, TBAT as published beside TBAT as computed here.

Needs: the logits of the family and of the first truth, the family's heads, and the thesis's Table I.1.
Makes: metric_cost.parquet; tables/metric_cost.{csv,md,html,tex} and figures/metric_cost.{png,svg}.
"""


# All cores, so that nothing runs beside what is timed, though it uses one; a cluster's job has one of its own.
rule costs:
    input:
        logits=expand(
            f"{RESULTS}/logits/{{model}}.parquet",
            model=plan.names(MODELS, "family"),
        ),
        truth=f"{RESULTS}/logits/{TRUTHS[0]}.parquet",
        weights=expand(
            f"{RESULTS}/models/{{model}}/weights.safetensors",
            model=plan.names(MODELS, "family"),
        ),
    output:
        f"{RESULTS}/metric_cost.parquet",
    log:
        f"{RESULTS}/logs/costs.log",
    conda:
        ENVIRONMENT
    threads: workflow.resource_settings.cores or 1
    resources:
        mem_mb=plan.growing(2000),
        runtime=plan.growing(600),
    params:
        settings=settings(
            **config["costs"],
            tau=config["metrics"]["tau"],
            delta=config["metrics"]["tbat"]["delta"],
            models=plan.names(MODELS, "family"),
        ),
        code=fingerprint("costs.py"),
    script:
        "../../scripts/costs.py"


rule metric_cost_table:
    input:
        costs=f"{RESULTS}/metric_cost.parquet",
        published=f"{PUBLISHED}/table_i_1.csv",
    output:
        csv=f"{RESULTS}/tables/metric_cost.csv",
        markdown=f"{RESULTS}/tables/metric_cost.md",
        html=report(
            f"{RESULTS}/tables/metric_cost.html",
            caption="../report/metric_cost_table.rst",
            category="4 Oversmoothing",
            labels={"result": "Table I.1: cost of the metrics"},
        ),
        latex=f"{RESULTS}/tables/metric_cost.tex",
    log:
        f"{RESULTS}/logs/metric_cost_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(models=plan.table_rows(config, "family", plan.OF_SCORES)),
        code=fingerprint("metric_cost_table.py"),
    script:
        "../../scripts/metric_cost_table.py"


rule metric_cost_figure:
    input:
        f"{RESULTS}/tables/metric_cost.csv",
    output:
        f"{RESULTS}/figures/metric_cost.png",
        report(
            f"{RESULTS}/figures/metric_cost.svg",
            caption="../report/metric_cost_figure.rst",
            category="4 Oversmoothing",
            labels={"result": "Table I.1: cost of the metrics, drawn"},
        ),
    log:
        f"{RESULTS}/logs/metric_cost_figure.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        code=fingerprint("metric_cost_figure.py"),
    script:
        "../../scripts/metric_cost_figure.py"
