"""When the truth is known: texts drawn from laws, models that learn them, and their distance from the law itself.

Needs: the corpus and a truth. Makes, in laws/: of each law text.parquet, windows.parquet and law.parquet, its
log-probabilities; of each text a corpus; in own_contexts/ how far a model that learned it is from the law behind its own
text, and in marked/ what of it BAT rejects. The rules of all texts make the rest, as `texts_read` of the plan has them:
weights, logits, scores, and what heads force.
"""

from studies.known_law import plan as known_law

LAWS = known_law.laws(config)
LEARNED = {f"laws/{name}/": text for name, text in known_law.texts(config).items()} if LAWS else {}
OF_LAW = f"{RUN.results}/laws/{{law}}"
FULL_OF = known_law.full_of(config)
LEARNING = {"text": one_of(LEARNED), "model": one_of(LEARNERS)}  # wildcards of a model that learns a text
law_of = lambda wildcards: LAWS[LEARNED[wildcards.text].law]
windows_of_text = lambda wildcards: text_of(wildcards).windows
weights_of_law = lambda law: known_law.weights_of_law(RUN, law)
# The decoding under which a stand-in is read.
at_temperature = lambda wildcards: {"name": "temperature", "temperature": float(wildcards.temperature)}


wildcard_constraints:
    law=one_of(LAWS),


if LAWS:
    LAW_TRUTH = known_law.truth(config)
    WITH_RANK = {"law": one_of(law.name for law in LAWS.values() if law.rank)}

    use rule retrain_head as law_head with:
        input:
            weights=RUN.weights.format(model=LAW_TRUTH.name),
            training=ancient(RUN.read["train"]),
            validation=ancient(RUN.read["validation"]),
            manifest=RUN.read["manifest"],
        output:
            weights=f"{OF_LAW}/{{model}}.head.safetensors",
            history=f"{OF_LAW}/{{model}}.head.parquet",
        wildcard_constraints:
            **WITH_RANK,
            model="factors",
        params:
            settings=lambda wildcards: known_law.head_settings(config, LAWS[wildcards.law]),

    rule law_model:
        input:
            weights=RUN.weights.format(model=LAW_TRUTH.name),
            head=f"{OF_LAW}/factors.head.safetensors",
        output:
            f"{OF_LAW}/weights.safetensors",
        wildcard_constraints:
            **WITH_RANK,
        resources:
            **per_attempt(mem_mb=2000, runtime=10),
        params:
            settings=lambda wildcards: settings(rank=LAWS[wildcards.law].rank),
        script:
            "weights.py"

    rule law_text:
        input:
            **{split: ancient(path) for split, path in RUN.corpus.items()},
            manifest=RUN.manifest,
            weights=lambda wildcards: weights_of_law(LAWS[wildcards.law]),
        output:
            text=f"{OF_LAW}/text.parquet",
            windows=f"{OF_LAW}/windows.parquet",
        priority: 10  # the trainings wait for it
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=4000, runtime=240),
        params:
            settings=lambda wildcards: known_law.text_settings(config, LAWS[wildcards.law]),
            by_name=lambda wildcards: decoding_code([LAWS[wildcards.law].decoding]),
            device=DEVICE,
        script:
            "text.py"

    rule law_corpus:
        input:
            lambda wildcards: f"{OF_LAW}/text.parquet".format(law=LEARNED[wildcards.text].law),
        output:
            **{part: f"{RUN.results}/{{text}}{name}" for part, name in known_law.SPLITS.items()},
        wildcard_constraints:
            text=one_of(LEARNED),
        resources:
            **per_attempt(mem_mb=2000, runtime=10),
        params:
            settings=lambda wildcards: known_law.corpus_settings(config, LEARNED[wildcards.text]),
        script:
            "corpus.py"

    rule exact_law:
        input:
            f"{OF_LAW}/logits/{LAW_TRUTH.name}.parquet",
        output:
            f"{OF_LAW}/law.parquet",
        resources:
            **per_attempt(mem_mb=2000, runtime=30),
        params:
            settings=lambda wildcards: settings(decoding=dict(LAWS[wildcards.law].decoding), vocabulary=256),
            by_name=lambda wildcards: decoding_code([LAWS[wildcards.law].decoding]),
        script:
            "exact.py"

    use rule exact_law as read_stand_in with:
        input:
            RUN.logits.replace(RUN.results, f"{RUN.results}/laws/{{learned}}"),
        output:
            f"{RUN.results}/{known_law.READ}",
        wildcard_constraints:
            learned=one_of(text.name for text in LEARNED.values()),
            model=LEARNING["model"],
            temperature="[0-9.e-]+",
        params:
            settings=lambda wildcards: settings(decoding=at_temperature(wildcards), vocabulary=256),
            by_name=lambda wildcards: decoding_code([at_temperature(wildcards)]),

    rule own_contexts:
        input:
            windows=windows_of_text,
            law=lambda wildcards: weights_of_law(law_of(wildcards)),
            weights=head_of,
        output:
            f"{RUN.results}/{{text}}own_contexts/{{model}}.parquet",
        wildcard_constraints:
            **LEARNING,
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=4000, runtime=60),
        params:
            settings=lambda wildcards: known_law.own_settings(config, law_of(wildcards)),
            by_name=lambda wildcards: decoding_code([law_of(wildcards).decoding, PURE]),
            device=DEVICE,
        script:
            "own_contexts.py"

    rule marked:
        input:
            law=lambda wildcards: truths_of(wildcards)["law"],
            full=lambda wildcards: LOGITS.format(text=wildcards.text, model=FULL_OF[wildcards.text, wildcards.model]),
            model=LOGITS,
            weights=head_of,
        output:
            f"{RUN.results}/{{text}}marked/{{model}}.parquet",
        wildcard_constraints:
            **LEARNING,
        threads: 8
        resources:
            **per_attempt(mem_mb=2000, runtime=60),
        params:
            settings=settings(delta=TBAT["delta"], per_window=config["known_law"]["tbat_per_window"]),
        script:
            "marked.py"
