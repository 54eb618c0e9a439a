"""Ways of imposing a rank: learned, on the gradient alone (Murugan 2026), truncated, retrained (Godey et al. 2024).

Needs: the corpus, and weights of the models whose trunks are taken; svd_logits then runs the heads.
Makes: heads/{model}/weights.safetensors (A and B, and the LayerNorm's gain where one stands between them; or a full
head) and history.parquet.
"""

from studies.imposed_rank import plan as imposed_rank

RETRAINED = imposed_rank.models(config)


rule retrain_head:
    input:
        weights=lambda wildcards: RUN.weights.format(model=RETRAINED[wildcards.model].source),
        training=ancient(RUN.read["train"]),
        validation=ancient(RUN.read["validation"]),
        manifest=RUN.read["manifest"],
    output:
        weights=RUN.heads,
        history=f"{RUN.results}/heads/{{model}}/history.parquet",
    wildcard_constraints:
        model=one_of(RETRAINED),
    threads: config["training"]["threads"]
    resources:
        **ON_GPU,
        **per_attempt(mem_mb=6000, runtime=240),
    params:
        settings=lambda wildcards: imposed_rank.head_settings(config, RETRAINED[wildcards.model]),
        device=DEVICE,
    script:
        step("studies/imposed_rank/retrain.py")
