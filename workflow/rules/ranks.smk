"""What rank the models' representations really use.

Needs: logits, hidden states and weights of the family; the thesis's Table 7.3 (PUBLISHED, from tables.smk).
Makes: ranks/{model}.parquet and their singular values spectra/{model}.parquet; tables/effective_rank.{csv,md,html,tex}
(Table 7.3).
"""


rule ranks:
    input:
        logits=f"{RESULTS}/logits/{{model}}.parquet",
        hidden=f"{RESULTS}/hidden/{{model}}.parquet",
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
    output:
        ranks=f"{RESULTS}/ranks/{{model}}.parquet",
        spectra=f"{RESULTS}/spectra/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/ranks/{{model}}.log",
    wildcard_constraints:
        model=one_of(model for model in MODELS.values() if model.kind == "family"),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=plan.growing(2000),
        runtime=plan.growing(30),
    params:
        settings=settings(**config["ranks"]),
        code=fingerprint("ranks.py"),
    script:
        "../../scripts/ranks.py"


rule effective_rank_table:
    input:
        ranks=expand(
            f"{RESULTS}/ranks/{{model}}.parquet",
            model=plan.names(MODELS, "family"),
        ),
        published=f"{PUBLISHED}/table_7_3.csv",
    output:
        csv=f"{RESULTS}/tables/effective_rank.csv",
        markdown=f"{RESULTS}/tables/effective_rank.md",
        html=report(
            f"{RESULTS}/tables/effective_rank.html",
            caption="../report/effective_rank.rst",
            category="7 Rank",
            labels={"result": "Table 7.3: effective ranks"},
        ),
        latex=f"{RESULTS}/tables/effective_rank.tex",
    log:
        f"{RESULTS}/logs/effective_rank_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            models=plan.table_rows(config, "family", plan.OF_SCORES),
            positions=config["ranks"]["positions"],
            threshold=config["ranks"]["threshold"],
        ),
        code=fingerprint("effective_rank_table.py"),
    script:
        "../../scripts/effective_rank_table.py"
