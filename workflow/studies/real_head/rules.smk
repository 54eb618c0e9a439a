"""What the head of a model in use forces of its distance from truths that predict its text better.

Needs: the manifest of the model, and the files that `real_head.texts` names.
Makes: real_head/states/{text}.parquet, .head.safetensors and .norm.json; real_head/choice/{text}.json and
real_head/losses/{text}.parquet; real_head/{forced,sphere}/{text}/{truth}.parquet; tables/real_head.{csv,md,html,tex} and
figures/real_head.{png,svg,pdf}. Nothing without a model.
"""

from studies.real_head import plan as real_head

REAL_TEXTS = real_head.texts(config)
REAL_TRUTHS = real_head.truths(config)
REAL_STATES = f"{RESULTS}/real_head/states/{{text}}.parquet"
REAL_CHOICE = f"{RESULTS}/real_head/choice/{{text}}.json"
REAL_LOSSES = f"{RESULTS}/real_head/losses/{{text}}.parquet"
REAL_FORCED = f"{RESULTS}/real_head/forced/{{text}}/{{truth}}.parquet"
REAL_SPHERE = f"{RESULTS}/real_head/sphere/{{text}}/{{truth}}.parquet"
ON_SPHERE = real_head.on_sphere(config)

if REAL_TEXTS:

    rule real_head_states:
        input:
            asset=MANIFEST_OF.format(asset=real_head.asset(config)),
            text=lambda wildcards: ancient(plan.corpus.matching_files(REAL_TEXTS[wildcards.text]["paths"])),
        output:
            head=REAL_STATES.replace(".parquet", ".head.safetensors"),
            norm=REAL_STATES.replace(".parquet", ".norm.json"),
            states=REAL_STATES,
        wildcard_constraints:
            text=one_of(REAL_TEXTS),
        threads: config["real_head"]["threads"]
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=8000, runtime=120),
        params:
            settings=lambda wildcards: real_head.read_settings(config, REAL_TEXTS[wildcards.text]),
            files=lambda wildcards: contents(plan.corpus.matching_files(REAL_TEXTS[wildcards.text]["paths"])),
            by_name=lambda wildcards: fingerprints(ADAPTERS),
            device=DEVICE,
        script:
            "states.py"

    rule real_head_choice:
        input:
            states=REAL_STATES,
            head=REAL_STATES.replace(".parquet", ".head.safetensors"),
        output:
            choice=REAL_CHOICE,
            losses=REAL_LOSSES,
        wildcard_constraints:
            text=one_of(REAL_TEXTS),
        resources:
            **per_attempt(mem_mb=6000, runtime=120),
        params:
            settings=settings(**{key: config["real_head"][key] for key in ("sharpness", "neighbours")}),
        script:
            "choose.py"

    rule real_head_forced:
        input:
            states=REAL_STATES,
            head=REAL_STATES.replace(".parquet", ".head.safetensors"),
            choice=REAL_CHOICE,
        output:
            REAL_FORCED,
        wildcard_constraints:
            text=one_of(REAL_TEXTS),
            truth=one_of(REAL_TRUTHS),
        resources:
            **per_attempt(mem_mb=6000, runtime=240),
        params:
            settings=lambda wildcards: settings(**REAL_TRUTHS[wildcards.truth]),
        script:
            "measure.py"

    rule real_head_sphere:
        input:
            states=REAL_STATES,
            head=REAL_STATES.replace(".parquet", ".head.safetensors"),
            choice=REAL_CHOICE,
            forced=REAL_FORCED,
            norm=REAL_STATES.replace(".parquet", ".norm.json"),
        output:
            REAL_SPHERE,
        wildcard_constraints:
            text=one_of(REAL_TEXTS),
            truth=one_of(ON_SPHERE),
        resources:
            **per_attempt(mem_mb=6000, runtime=240),
        params:
            settings=lambda wildcards: settings(**ON_SPHERE[wildcards.truth]),
        script:
            "sphere.py"

    rule real_head_table:
        input:
            losses=expand(REAL_LOSSES, text=REAL_TEXTS),
            forced=expand(REAL_FORCED, text=REAL_TEXTS, truth=REAL_TRUTHS),
            sphere=expand(REAL_SPHERE, text=REAL_TEXTS, truth=ON_SPHERE),
        output:
            **table("real_head", "0 Findings", "A head in use: what it cannot say"),
            **figure("real_head", "0 Findings", "A head in use: what it cannot say, drawn"),
        params:
            settings=settings(**config["statistics"]),
        script:
            "show.py"
