"""A few prompts: each model's distribution of the next byte, with the same metrics as for all windows.

Needs: the weights, and `showcase` of the config; the table of oversmoothing, to choose the models of Figure 1.1; for a
prompt that is null, the windows and the logits of the first truth and of the family.
Makes: showcase/windows.parquet and, by the rules of all windows, showcase/{logits,hidden,scores}; tables/next_byte;
figures/next_byte_{prompt} (Figure 4.1), figures/next_byte_svd_{prompt} (7.1), figures/oversmoothing_illustrated (1.1).

Figures have one panel per model, so only the first seed is shown. Rules that compute a single byte run where Snakemake
runs, because a cluster job would take longer to start.
"""

from studies.next_byte import plan as next_byte

SHOWCASE = f"{RESULTS}/showcase"
PROMPTS = [entry["name"] for entry in config["showcase"]]
SHOWN = next_byte.of_first_seed(config)
SHOWN_LOGITS = f"{SHOWCASE}/logits/{{model}}.parquet"
SHOWN_HIDDEN = f"{SHOWCASE}/hidden/{{model}}.parquet"
SHOWN_SCORES = f"{SHOWCASE}/scores/{{metric}}/{{model}}.parquet"
CHOSEN_FROM = {  # the windows of which prompts that are null are chosen
    "windows": WINDOWS,
    "truth": LOGITS.format(model=TRUTHS[0]),
    "family": expand(LOGITS, model=names(SHOWN, "family")),
}
if all(entry["prompt"] is not None for entry in config["showcase"]):
    CHOSEN_FROM = {}


rule draw_showcase:
    input:
        **TOKENS,
        **CHOSEN_FROM,
    output:
        f"{SHOWCASE}/windows.parquet",
    localrule: True
    params:
        settings=next_byte.window_settings(config),
    script:
        "prompts.py"


use rule logits as showcase_logits with:
    input:
        windows=f"{SHOWCASE}/windows.parquet",
        weights=WEIGHTS,
    output:
        head=head_beside(SHOWN_LOGITS),
        logits=SHOWN_LOGITS,
        hidden=SHOWN_HIDDEN,
    params:
        settings=settings(**{**plan.tokens.inference(config), "batch": 1}),  # prompts differ in length


use rule hub_logits as showcase_hub_logits with:
    input:
        **TOKENS,
        windows=f"{SHOWCASE}/windows.parquet",
        manifest=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].settings),
    output:
        head=head_beside(SHOWN_LOGITS),
        logits=SHOWN_LOGITS,
        hidden=SHOWN_HIDDEN,
    params:
        settings=lambda wildcards: settings(
            **plan.tokens.inference(config) | MODELS[wildcards.model].settings | {"batch": 1}
        ),


use rule byte_logits as showcase_byte_logits with:
    input:
        windows=f"{SHOWCASE}/windows.parquet",
        evaluation=[],
        asset=lambda wildcards: MANIFEST_OF.format(**MODELS[wildcards.model].settings),
    output:
        logits=SHOWN_LOGITS,
    params:
        settings=lambda wildcards: settings(
            **plan.models.byte_view_settings(config, MODELS[wildcards.model]) | {"context": 0}  # nothing is before it
        ),


use rule svd_logits as showcase_svd_logits with:
    input:
        hidden=lambda wildcards: f"{SHOWCASE}/hidden/{MODELS[wildcards.model].source}.parquet",
        weights=head_of,
    output:
        head=head_beside(SHOWN_LOGITS),
        logits=SHOWN_LOGITS,
    localrule: config["svd_of"] is None


use rule score as showcase_score with:
    input:
        model=SHOWN_LOGITS,
        truths=expand(f"{SHOWCASE}/logits/{{truth}}.parquet", truth=TRUTHS),
    output:
        **{metric: f"{SHOWCASE}/scores/{metric}/{{model}}.parquet" for metric in OF_DISTRIBUTIONS},
    localrule: True
    resources:
        mem_mb=2000,
    params:
        device=lambda wildcards, output: "cpu",


use rule tbat as showcase_tbat with:
    input:
        **({"hidden": SHOWN_HIDDEN} if TBAT["condition"] == "tangent" else {}),
        weights=head_of,
        logits=SHOWN_LOGITS,
    output:
        f"{SHOWCASE}/scores/tbat/{{model}}.parquet",
    localrule: True


rule next_byte_table:
    input:
        vocabulary=VOCABULARY,
        windows=f"{SHOWCASE}/windows.parquet",
        logits=expand(SHOWN_LOGITS, model=names(SHOWN, "truth", "family", "svd")),
        scores=[
            *expand(SHOWN_SCORES, metric=AGAINST_TRUTHS, model=names(SHOWN, "family", "svd")),
            *expand(SHOWN_SCORES, metric="tbat", model=[name for name in names(SHOWN, "family") if name in LINEAR]),
        ],
    output:
        **table("next_byte", "4 Oversmoothing", f"Beside Figures 4.1, 7.1: the {UNIT} after a prompt"),
        family=figures_of(PROMPTS, "next_byte", "4 Oversmoothing", "Figure 4.1"),
        truncated=figures_of(PROMPTS if TRUNCATED else [], "next_byte_svd", "7 Rank", "Figure 7.1"),
    params:
        settings=settings(
            names=PROMPTS, models=model_rows(SHOWN, "truth", "family", "svd"), figures=next_byte.figures(config, UNIT)
        ),
    script:
        "table.py"


rule oversmoothing_illustrated:
    input:
        vocabulary=VOCABULARY,
        windows=f"{SHOWCASE}/windows.parquet",
        logits=expand(SHOWN_LOGITS, model=names(SHOWN, "family")),
        table=f"{RESULTS}/tables/oversmoothing.csv",
    output:
        **figure(
            "oversmoothing_illustrated",
            "1 Introduction",
            "Figure 1.1: what oversmoothing is",
        ),
    params:
        settings=settings(unit=UNIT, models=model_rows(SHOWN, "family")),
    script:
        "illustrated.py"
