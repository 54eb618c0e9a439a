"""Which bytes a model can never predict, whatever it reads.

Needs: the weights of the family; the thesis's sets under resources/published/ (PUBLISHED, from tables.smk).
Makes: argmaxability/{model}.parquet; tables/argmaxability.{csv,md,html,tex} (Tables B.1 and B.2).
"""


rule argmaxability:
    input:
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
    output:
        f"{RESULTS}/argmaxability/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/argmaxability/{{model}}.log",
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.kind == "family"),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(2000),
        runtime=plan.growing(30),
    params:
        code=fingerprint("argmaxability.py"),
    script:
        "../../scripts/argmaxability.py"


rule argmaxability_table:
    input:
        classes=expand(
            f"{RESULTS}/argmaxability/{{model}}.parquet",
            model=plan.names(MODELS, "family"),
        ),
        published=f"{PUBLISHED}/table_b.csv",
    output:
        csv=f"{RESULTS}/tables/argmaxability.csv",
        markdown=f"{RESULTS}/tables/argmaxability.md",
        html=report(
            f"{RESULTS}/tables/argmaxability.html",
            caption="../report/argmaxability.rst",
            category="4 Oversmoothing",
            labels={"result": "Tables B.1, B.2: unargmaxable bytes"},
        ),
        latex=f"{RESULTS}/tables/argmaxability.tex",
    log:
        f"{RESULTS}/logs/argmaxability_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(models=plan.table_rows(config, "family", plan.OF_SCORES)),
        code=fingerprint("argmaxability_table.py"),
    script:
        "../../scripts/argmaxability_table.py"
