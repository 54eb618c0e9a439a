"""What the head of a model in use forces of its distance from truths that predict its text better.

Needs: the manifest of the model, and the files that `real_head.texts` names.
Makes: real_head/states/{source}.parquet, .head.safetensors and .norm.json; real_head/choice/{source}.json and
real_head/losses/{source}.parquet; real_head/{forced,sphere}/{source}/{truth}.parquet. Nothing without a model.
"""

from studies.real_head import plan as real_head

REAL_TEXTS = real_head.texts(config)
REAL_TRUTHS = real_head.truths(config)
REAL_STATES = f"{RUN.results}/real_head/states/{{source}}.parquet"
REAL_CHOICE = f"{RUN.results}/real_head/choice/{{source}}.json"
REAL_LOSSES = f"{RUN.results}/real_head/losses/{{source}}.parquet"
REAL_FORCED = f"{RUN.results}/real_head/forced/{{source}}/{{truth}}.parquet"
REAL_SPHERE = f"{RUN.results}/real_head/sphere/{{source}}/{{truth}}.parquet"
ON_SPHERE = real_head.on_sphere(config)

if REAL_TEXTS:

    rule real_head_states:
        input:
            asset=RUN.manifest_of.format(asset=real_head.asset(config)),
            text=lambda wildcards: ancient(plan.corpus.matching_files(REAL_TEXTS[wildcards.source]["paths"])),
        output:
            head=REAL_STATES.replace(".parquet", ".head.safetensors"),
            norm=REAL_STATES.replace(".parquet", ".norm.json"),
            states=REAL_STATES,
        wildcard_constraints:
            source=one_of(REAL_TEXTS),
        threads: config["real_head"]["threads"]
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=8000, runtime=120),
        params:
            settings=lambda wildcards: real_head.read_settings(config, REAL_TEXTS[wildcards.source]),
            files=lambda wildcards: contents(plan.corpus.matching_files(REAL_TEXTS[wildcards.source]["paths"])),
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
            source=one_of(REAL_TEXTS),
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
            source=one_of(REAL_TEXTS),
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
            source=one_of(REAL_TEXTS),
            truth=one_of(ON_SPHERE),
        resources:
            **per_attempt(mem_mb=6000, runtime=240),
        params:
            settings=lambda wildcards: settings(**ON_SPHERE[wildcards.truth]),
        script:
            "sphere.py"
