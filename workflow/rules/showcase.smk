"""What a few prompts show: what each model takes for the next byte, under the metrics of all windows.

Needs: the weights, and `showcase` of the config; the table of oversmoothing, for which models to illustrate it with.
Makes: showcase/windows.parquet and, by the rules of all windows, showcase/{logits,hidden,scores}; tables/next_byte;
figures/next_byte_{prompt} (Figure 4.1), figures/next_byte_svd_{prompt} (7.1), figures/oversmoothing_illustrated (1.1).

The models are those of the first seed: a figure has a panel for each. What computes a single byte runs where Snakemake
does, because a cluster's job would take longer to start.
"""

SHOWCASE = f"{RESULTS}/showcase"
PROMPTS = [entry["name"] for entry in config["showcase"]]
SHOWN = plan.showcased(config)


wildcard_constraints:
    prompt="|".join(map(re.escape, PROMPTS)),


rule draw_showcase:
    output:
        f"{SHOWCASE}/windows.parquet",
    log:
        f"{RESULTS}/logs/draw_showcase.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=plan.showcase_settings(config),
        code=fingerprint("draw_showcase.py"),
    script:
        "../../scripts/draw_showcase.py"


use rule logits as showcase_logits with:
    input:
        windows=f"{SHOWCASE}/windows.parquet",
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
    output:
        logits=f"{SHOWCASE}/logits/{{model}}.parquet",
        hidden=f"{SHOWCASE}/hidden/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/showcase_logits/{{model}}.log",
    params:
        settings=settings(**{**config["inference"], "batch": 1}),  # prompts differ in length
        shape=lambda wildcards: plan.shape(MODELS[wildcards.model]),
        device=lambda wildcards, output: config["device"],
        code=fingerprint("logits.py"),


use rule hub_logits as showcase_hub_logits with:
    input:
        windows=f"{SHOWCASE}/windows.parquet",
        manifest=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].hub),
    output:
        logits=f"{SHOWCASE}/logits/{{model}}.parquet",
        hidden=f"{SHOWCASE}/hidden/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/showcase_hub_logits/{{model}}.log",
    params:
        settings=lambda wildcards: settings(
            **config["inference"] | MODELS[wildcards.model].hub | {"batch": 1}
        ),
        device=lambda wildcards, output: config["device"],
        adapters=fingerprint("oversmoothing/truths/load.py"),
        code=fingerprint("logits.py"),


use rule svd_logits as showcase_svd_logits with:
    input:
        hidden=lambda wildcards: f"{SHOWCASE}/hidden/{MODELS[wildcards.model].source}.parquet",
        weights=lambda wildcards: f"{RESULTS}/models/{MODELS[wildcards.model].source}/weights.safetensors",
    output:
        f"{SHOWCASE}/logits/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/showcase_svd_logits/{{model}}.log",
    localrule: True


use rule score as showcase_score with:
    input:
        model=f"{SHOWCASE}/logits/{{model}}.parquet",
        truths=expand(f"{SHOWCASE}/logits/{{truth}}.parquet", truth=TRUTHS),
    output:
        **{
            metric: f"{SHOWCASE}/scores/{metric}/{{model}}.parquet"
            for metric in METRICS
        },
    log:
        f"{RESULTS}/logs/showcase_score/{{model}}.log",
    localrule: True


use rule tbat as showcase_tbat with:
    input:
        **(
            {"hidden": f"{SHOWCASE}/hidden/{{model}}.parquet"}
            if TBAT["condition"] == "tangent"
            else {}
        ),
        weights=f"{RESULTS}/models/{{model}}/weights.safetensors",
        logits=f"{SHOWCASE}/logits/{{model}}.parquet",
    output:
        f"{SHOWCASE}/scores/tbat/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/showcase_tbat/{{model}}.log",
    localrule: True


rule next_byte_table:
    input:
        windows=f"{SHOWCASE}/windows.parquet",
        logits=expand(
            f"{SHOWCASE}/logits/{{model}}.parquet",
            model=plan.names(SHOWN, "truth", "family", "svd"),
        ),
        scores=[
            *expand(
                f"{SHOWCASE}/scores/{{metric}}/{{model}}.parquet",
                metric=AGAINST_TRUTHS,
                model=plan.names(SHOWN, "family", "svd"),
            ),
            *expand(
                f"{SHOWCASE}/scores/tbat/{{model}}.parquet",
                model=plan.names(SHOWN, "family"),
            ),
        ],
    output:
        csv=f"{RESULTS}/tables/next_byte.csv",
        markdown=f"{RESULTS}/tables/next_byte.md",
        html=report(
            f"{RESULTS}/tables/next_byte.html",
            caption="../report/next_byte_table.rst",
            category="4 Oversmoothing",
            labels={"result": "Beside Figures 4.1, 7.1: the byte after a prompt"},
        ),
        latex=f"{RESULTS}/tables/next_byte.tex",
    log:
        f"{RESULTS}/logs/next_byte_table.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            names=PROMPTS, models=plan.described(SHOWN, "truth", "family", "svd")
        ),
        code=fingerprint("next_byte_table.py"),
    script:
        "../../scripts/next_byte_table.py"


rule next_byte_figure:
    input:
        windows=f"{SHOWCASE}/windows.parquet",
        logits=expand(
            f"{SHOWCASE}/logits/{{model}}.parquet",
            model=plan.names(SHOWN, "truth", "family"),
        ),
        table=f"{RESULTS}/tables/next_byte.csv",
    output:
        f"{RESULTS}/figures/next_byte_{{prompt}}.png",
        report(
            f"{RESULTS}/figures/next_byte_{{prompt}}.svg",
            caption="../report/next_byte.rst",
            category="4 Oversmoothing",
            labels={"result": "Figure 4.1: the byte after the prompt {prompt}"},
        ),
    log:
        f"{RESULTS}/logs/next_byte_figure/{{prompt}}.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(
            title="The byte after a prompt: what each model expects, by rank of what enters its LM head",
            models=plan.described(SHOWN, "truth", "family"),
        ),
        window=lambda wildcards: PROMPTS.index(wildcards.prompt),
        code=fingerprint("next_byte_figure.py"),
    script:
        "../../scripts/next_byte_figure.py"


if config["svd_ranks"]:

    use rule next_byte_figure as next_byte_svd_figure with:
        input:
            windows=f"{SHOWCASE}/windows.parquet",
            logits=expand(
                f"{SHOWCASE}/logits/{{model}}.parquet",
                model=plan.names(plan.truncations(SHOWN), "truth", "svd", "family"),
            ),
            table=f"{RESULTS}/tables/next_byte.csv",
        output:
            f"{RESULTS}/figures/next_byte_svd_{{prompt}}.png",
            report(
                f"{RESULTS}/figures/next_byte_svd_{{prompt}}.svg",
                caption="../report/next_byte_svd.rst",
                category="7 Rank",
                labels={"result": "Figure 7.1: the byte after the prompt {prompt}"},
            ),
        log:
            f"{RESULTS}/logs/next_byte_svd_figure/{{prompt}}.log",
        params:
            settings=settings(
                title="The byte after a prompt: what the full model expects, by rank to which its head was truncated (SVD)",
                models=plan.described(
                    plan.truncations(SHOWN), "truth", "svd", "family"
                ),
            ),
            window=lambda wildcards: PROMPTS.index(wildcards.prompt),
            code=fingerprint("next_byte_figure.py"),


rule oversmoothing_illustrated:
    input:
        windows=f"{SHOWCASE}/windows.parquet",
        logits=expand(
            f"{SHOWCASE}/logits/{{model}}.parquet",
            model=plan.names(SHOWN, "family"),
        ),
        table=f"{RESULTS}/tables/oversmoothing.csv",
    output:
        f"{RESULTS}/figures/oversmoothing_illustrated.png",
        report(
            f"{RESULTS}/figures/oversmoothing_illustrated.svg",
            caption="../report/oversmoothing_illustrated.rst",
            category="1 Introduction",
            labels={"result": "Figure 1.1: what oversmoothing is"},
        ),
    log:
        f"{RESULTS}/logs/oversmoothing_illustrated.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        settings=settings(models=plan.described(SHOWN, "family")),
        code=fingerprint("oversmoothing_illustrated.py"),
    script:
        "../../scripts/oversmoothing_illustrated.py"
