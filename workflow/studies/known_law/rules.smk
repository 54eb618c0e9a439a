"""When the truth is known: texts drawn from laws, models that learn them, and their distance from the law itself.

Needs: the corpus and a truth. Makes, in laws/: of each law text.parquet, windows.parquet and law.parquet, its
log-probabilities; of each text a corpus, and of each model that learns it weights, logits and scores;
in own_contexts/ how far it is from the law behind its own text, and in marked/ what of it BAT rejects;
tables/known_law.{csv,md,html,tex}; figures/known_law.{png,svg,pdf}.
"""

from studies.known_law import plan as known_law

LAWS = known_law.laws(config)
LEARNED = known_law.texts(config)
LEARNERS = known_law.by_text(config)
HELD_AGAINST = {text: known_law.judged(config, LEARNED[text]) for text in LEARNED}
OF_LAW = f"{RESULTS}/laws/{{law}}"
FILES = known_law.files(config)
OF_TEXT, LAW_LOGITS, LEARNED_LOGITS, LEARNED_WEIGHTS = (FILES[key] for key in ("folder", "law", "logits", "weights"))
LAW_MODEL = f"{OF_LAW}/weights.safetensors"
LAW_WEIGHTS = {  # of the model whose distributions a law's are
    law.name: LAW_MODEL.format(law=law.name) if law.rank else WEIGHTS.format(model=known_law.truth(config).name)
    for law in LAWS.values()
}
READ_LOGITS = f"{OF_LAW}/stand_ins/{{text}}/{{model}}-at-{{temperature}}.parquet"
STAND_INS = {text: known_law.truths(config, LEARNED[text]) for text in LEARNED}
TRUTHS_OF = {  # of each text: logits of its law and of what stands in for it, by name
    text: {"law": LAW_LOGITS.format(law=LEARNED[text].law)}
    | {
        of["truth"]: (READ_LOGITS if of["temperature"] else LEARNED_LOGITS).format(law=LEARNED[text].law, **of)
        for of in stand_ins
    }
    for text, stand_ins in STAND_INS.items()
}
PAIRS = [(text, model) for text, models in HELD_AGAINST.items() for model in models]
OWN_CONTEXTS = f"{OF_TEXT}/own_contexts/{{model}}.parquet"
MARKED = f"{OF_TEXT}/marked/{{model}}.parquet"
MEMBERS = [pair for pair in PAIRS if HELD_AGAINST[pair[0]][pair[1]].kind == "family"]
FULL_OF = known_law.full_of(HELD_AGAINST) if config["known_law"]["tbat_per_window"] else {}
LEARNING = {  # constraints of the wildcards of a model that learns a text
    "text": one_of(LEARNED),
    "model": one_of({model for models in LEARNERS.values() for model in models}),
}


wildcard_constraints:
    law=one_of(LAWS),


# Files of the logits of a text's law and of what stands in for it.
truths_of_text = lambda wildcards: list(TRUTHS_OF[wildcards.text].values())
# The decoding under which a stand-in is read.
at_temperature = lambda wildcards: {"name": "temperature", "temperature": float(wildcards.temperature)}
# Files of the scores of models against laws, of pairs of a text and a model that learned it.
scores_on_law = lambda metric, pairs: [
    f"{OF_TEXT}/scores/{metric}/{model}.parquet".format(text=text) for text, model in pairs
]


if LAWS:
    LAW_TRUTH = known_law.truth(config)
    WITH_RANK = {"law": one_of(law.name for law in LAWS.values() if law.rank)}

    use rule retrain_head as law_head with:
        input:
            weights=WEIGHTS.format(model=LAW_TRUTH.name),
            training=ancient(READ["train"]),
            validation=ancient(READ["validation"]),
            manifest=READ["manifest"],
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
            weights=WEIGHTS.format(model=LAW_TRUTH.name),
            head=f"{OF_LAW}/factors.head.safetensors",
        output:
            LAW_MODEL,
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
            **{split: ancient(path) for split, path in CORPUS.items()},
            manifest=MANIFEST,
            weights=lambda wildcards: LAW_WEIGHTS[wildcards.law],
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
            train=f"{OF_TEXT}/train.bin",
            validation=f"{OF_TEXT}/validation.bin",
            manifest=f"{OF_TEXT}/manifest.json",
        wildcard_constraints:
            text=one_of(LEARNED),
        resources:
            **per_attempt(mem_mb=2000, runtime=10),
        params:
            settings=lambda wildcards: known_law.corpus_settings(config, LEARNED[wildcards.text]),
        script:
            "corpus.py"

    use rule train as train_on_law with:
        input:
            training=ancient(f"{OF_TEXT}/train.bin"),
            validation=ancient(f"{OF_TEXT}/validation.bin"),
            manifest=f"{OF_TEXT}/manifest.json",
            learning_rate=chosen_rate,
        output:
            weights=LEARNED_WEIGHTS,
            history=f"{OF_TEXT}/models/{{model}}/history.parquet",
            snapshots=directory(f"{OF_TEXT}/models/{{model}}/snapshots"),
        log:
            f"{RESULTS}/logs/train_on_law/{{text}}-{{model}}.log",
        wildcard_constraints:
            **LEARNING,

    use rule logits as logits_on_law with:
        input:
            windows=lambda wildcards: f"{OF_LAW}/windows.parquet".format(law=LEARNED[wildcards.text].law),
            weights=LEARNED_WEIGHTS,
        output:
            logits=LEARNED_LOGITS,
            hidden=f"{OF_TEXT}/hidden/{{model}}.parquet",
        wildcard_constraints:
            **LEARNING,

    use rule logits as logits_of_law with:
        input:
            windows=f"{OF_LAW}/windows.parquet",
            weights=lambda wildcards: LAW_WEIGHTS[wildcards.law],
        output:
            logits=f"{OF_LAW}/logits/{{model}}.parquet",
            hidden=f"{OF_LAW}/hidden/{{model}}.parquet",
        wildcard_constraints:
            model=re.escape(LAW_TRUTH.name),
        params:
            shape=LAW_TRUTH.shape,

    rule exact_law:
        input:
            f"{OF_LAW}/logits/{LAW_TRUTH.name}.parquet",
        output:
            LAW_LOGITS,
        resources:
            **per_attempt(mem_mb=2000, runtime=30),
        params:
            settings=lambda wildcards: settings(decoding=dict(LAWS[wildcards.law].decoding), vocabulary=256),
            by_name=lambda wildcards: decoding_code([LAWS[wildcards.law].decoding]),
        script:
            "exact.py"

    use rule exact_law as read_stand_in with:
        input:
            LEARNED_LOGITS,
        output:
            READ_LOGITS,
        wildcard_constraints:
            **LEARNING,
            temperature="[0-9.e-]+",
        params:
            settings=lambda wildcards: settings(decoding=at_temperature(wildcards), vocabulary=256),
            by_name=lambda wildcards: decoding_code([at_temperature(wildcards)]),

    use rule score as score_on_law with:
        input:
            model=LEARNED_LOGITS,
            truths=truths_of_text,
        output:
            **{metric: f"{OF_TEXT}/scores/{metric}/{{model}}.parquet" for metric in OF_DISTRIBUTIONS},
        wildcard_constraints:
            **LEARNING,
        params:
            by_name=decoding_code([PURE], *SCORING["code"]),
            settings=lambda wildcards: settings(
                tau=config["metrics"]["tau"], decodings=[PURE], truths=list(TRUTHS_OF[wildcards.text])
            ),

    use rule forced as forced_on_law with:
        input:
            weights=LEARNED_WEIGHTS,
            model=LEARNED_LOGITS,
            truths=truths_of_text,
        output:
            f"{OF_TEXT}/scores/forced/{{model}}.parquet",
        wildcard_constraints:
            **LEARNING,
        params:
            settings=lambda wildcards: settings(
                rank=None,
                tau=config["metrics"]["tau"],
                per_window=FORCED["per_window"],
                norm_per_window=None,
                truths=list(TRUTHS_OF[wildcards.text]),
            ),

    rule own_contexts:
        input:
            windows=lambda wildcards: f"{OF_LAW}/windows.parquet".format(law=LEARNED[wildcards.text].law),
            law=lambda wildcards: LAW_WEIGHTS[LEARNED[wildcards.text].law],
            weights=LEARNED_WEIGHTS,
        output:
            OWN_CONTEXTS,
        wildcard_constraints:
            **LEARNING,
        resources:
            **ON_GPU,
            **per_attempt(mem_mb=4000, runtime=60),
        params:
            settings=lambda wildcards: known_law.own_settings(config, LAWS[LEARNED[wildcards.text].law]),
            by_name=lambda wildcards: decoding_code([LAWS[LEARNED[wildcards.text].law].decoding, PURE]),
            device=DEVICE,
        script:
            "own_contexts.py"

    rule marked:
        input:
            law=lambda wildcards: LAW_LOGITS.format(law=LEARNED[wildcards.text].law),
            full=lambda wildcards: LEARNED_LOGITS.format(
                text=wildcards.text, model=FULL_OF[wildcards.text, wildcards.model]
            ),
            model=LEARNED_LOGITS,
            weights=LEARNED_WEIGHTS,
        output:
            MARKED,
        wildcard_constraints:
            **LEARNING,
        threads: 8
        resources:
            **per_attempt(mem_mb=2000, runtime=60),
        params:
            settings=settings(delta=TBAT["delta"], per_window=config["known_law"]["tbat_per_window"]),
        script:
            "marked.py"

    rule known_law_table:
        input:
            nsmd=scores_on_law("nsmd", PAIRS),
            forced=scores_on_law("forced", PAIRS),
            own=[OWN_CONTEXTS.format(text=text, model=model) for text, model in MEMBERS],
            marked=[MARKED.format(text=text, model=model) for text, model in FULL_OF],
        output:
            **table("known_law", "0 Findings", "When the truth is known"),
            **figure("known_law", "0 Findings", "When the truth is known, drawn"),
        params:
            settings=settings(
                laws=[{"law": law.name, "rank": law.rank, "decoding": dict(law.decoding)} for law in LAWS.values()],
                learners=known_law.rows(config),
                stand_ins=[
                    {key: row[key] for key in ("truth", "stand_ins", "model")}
                    for row in {of["truth"]: of for stand_ins in STAND_INS.values() for of in stand_ins}.values()
                ],
            ),
        script:
            "show.py"
