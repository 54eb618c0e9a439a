"""The laws, the texts drawn from them, and the models that learn these."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.run.needs import training_flops
from oversmoothing.scores.decoding import decoder
from plan.model_types import Checkpoint, Trained
from plan.models import by_name, trained_here, trained_member
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from plan.texts import Text as Read
from plan.tokens import over_bytes
from studies.imposed_rank.plan import retraining
from studies.known_law.laws import LAW, PURE, STAND_INS, TRUTH, Kind, Law, Text

Config = Mapping[str, Any]
SPLITS = {"train": "train.bin", "validation": "validation.bin", "manifest": "manifest.json"}  # of a text, in its folder
READ = "laws/{law}/stand_ins/{learned}/{model}-at-{temperature}.parquet"  # what a model that learned a text gives there


def laws(config: Config) -> dict[str, Law]:
    """Return laws by name."""
    return {entry["name"]: Law(**entry) for entry in config["known_law"]["laws"]}


def texts(config: Config) -> dict[str, Text]:
    """Return texts by name: those that members learn, then those that only stand-ins do."""
    entries = config["known_law"]["texts"]
    made = [
        Text(e["law"], e["sequences"], tuple(e["ranks"]), tuple(e["seeds"]), tuple(e.get("arms", ()))) for e in entries
    ]
    named = {text.name: text for text in made}
    further = (kind.text(law) for law in laws(config) for kind in kinds(config, law))
    return named | {text.name: text for text in further if text.name not in named}


def truth(config: Config) -> Trained | Checkpoint:
    """Return the truth whose law it is: the first that is trained here or has a path."""
    return _own_truths(config)[0]


def _own_truths(config: Config) -> list[Trained | Checkpoint]:
    known = by_name(config).values()
    return [model for model in known if isinstance(model, Trained | Checkpoint) and model.kind == "truth"]


def learners(config: Config, text: Text) -> dict[str, Trained]:
    """Return the models that learn a text, by name: those held against its law, then further arms of the family."""
    named = [trained_member(config, entry, seed) for entry in trained_here(config) for seed in text.seeds]
    further = [_member(config, model, text) for model in named if model.arm in text.arms]
    return judged(config, text) | {model.name: model for model in further}


def judged(config: Config, text: Text) -> dict[str, Trained]:
    """Return the models held against the law of a text, by name: those of its ranks, then stand-ins for the law."""
    members = [trained_member(config, {"rank": rank}, seed) for rank in text.ranks for seed in text.seeds]
    kinds_of = [kind for kind in kinds(config, text.law) if kind.text(text.law).name == text.name]
    stand_ins = [model for kind in kinds_of for model in _trained(config, kind, text)]
    return {model.name: model for model in (*(_member(config, member, text) for member in members), *stand_ins)}


def kinds(config: Config, law: str) -> list[Kind]:
    """Return kinds of models that stand in for a law: none without a trained truth, and members at that size."""
    sizes = [text["sequences"] for text in config["known_law"]["texts"] if text["law"] == law]
    if config["known_law"]["truths"]["sequences"] not in sizes or not isinstance(truth(config), Trained):
        return []
    return _kinds(config)


def _kinds(config: Config) -> list[Kind]:
    """Return all kinds of stand-ins: the first, then the others, which say what differs from it."""
    section = config["known_law"]["truths"]
    first = {"name": STAND_INS, **{key: section[key] for key in ("sequences", "seeds", "passes")}}
    return [Kind(**first | entry) for entry in ({}, *section["others"])]


def truths(config: Config, text: Text) -> list[dict[str, Any]]:
    """Return what stands in for the law of a text of the size that the config names: its name, ``truth``, and its kind.

    ``model`` gives its distributions, which learned ``text``, read at a ``temperature`` or None.
    """
    if not text.ranks or text.sequences != config["known_law"]["truths"]["sequences"]:
        return []
    trained = [
        {"truth": model.name, "stand_ins": kind.name, "model": model.name, "text": learned.name}
        for kind in kinds(config, text.law)
        for learned in [kind.text(text.law)]
        for model in _trained(config, kind, learned)
    ]
    read = [
        {**row, **{key: f"{row[key]} at {t}" for key in ("truth", "stand_ins")}, "temperature": t}
        for t in config["known_law"]["truths"]["temperatures"]
        for row in trained
        if row["stand_ins"] == STAND_INS
    ]
    return [{"temperature": None, **row} for row in (*trained, *read)]


def text_settings(config: Config, law: Law) -> dict[str, Any]:
    """Return settings on which the text of a law depends."""
    section = config["known_law"]
    drawn = [text.after + text.sequences for text in texts(config).values() if text.law == law.name]
    how = {"batch": config["samples"]["batch"], "precision": "float32", "threads": config["inference"]["threads"]}
    how |= {key: section[key] for key in ("prompt", "sampled", "seed")}
    return settings(sequences={"train": max(drawn), **section["held_out"]}, decoding=dict(law.decoding), **how)


def corpus_settings(config: Config, text: Text) -> dict[str, Any]:
    """Return settings on which the corpus of a text depends, beyond the text of its law."""
    section = config["known_law"]
    after = {"after": text.after} if text.after else {}
    return settings(sequences=text.sequences, prompt=section["prompt"], sampled=section["sampled"], **after)


def own_settings(config: Config, law: Law) -> dict[str, Any]:
    """Return settings on which the distance of a model from a law behind its own text depends."""
    section = config["known_law"]
    how = {"batch": config["samples"]["batch"], "precision": "float32", "threads": config["inference"]["threads"]}
    how |= {"sampled": section["sampled"], "seed": section["seed"], "tau": config["metrics"]["tau"]}
    return settings(decoding=dict(law.decoding), **how)


def full_of(config: Config) -> dict[tuple[str, str], str]:
    """Return, for each folder of a text and member of a lower rank, the member of the highest rank and the same seed.

    There are none where nothing is said of BAT.
    """
    found: dict[tuple[str, str], str] = {}
    section = config["known_law"]
    for text, learned in texts(config).items() if section["laws"] and section["tbat_per_window"] else ():
        members = [model for model in judged(config, learned).values() if model.kind == "family"]
        highest = max((model.rank or 0 for model in members), default=0)
        full = {model.seed: model.name for model in members if model.rank == highest}
        found |= {(folder(text), model.name): full[model.seed] for model in members if model.rank != highest}
    return found


def head_settings(config: Config, law: Law) -> dict[str, Any]:
    """Return settings of the head of a law of known rank, retrained as those of `retrained` are."""
    return settings(rank=law.rank, norm="none", reads="post", **retraining(config))


def folder(text: str) -> str:
    """Return the folder of a text, or of a law, in the results."""
    return f"laws/{text}/"


def weights_of_law(run: Run, law: Law) -> str:
    """Return the weights of the model whose distributions a law's are: the truth's own, or those of its rank."""
    own = run.weights.format(model=truth(run.config).name)
    return f"{run.results}/{folder(law.name)}weights.safetensors" if law.rank else own


def texts_read(run: Run) -> Iterator[Read]:
    """Yield the texts, which models learn, with the truths that these are held against, and those of the laws."""
    of_laws = laws(run.config)
    for law in of_laws.values():
        read_by = truth(run.config)
        yield Read(
            folder(law.name),
            windows=f"{run.results}/{folder(law.name)}windows.parquet",
            weights=weights_of_law(run, law),
            models={read_by.name: read_by},
        )
    for name, text in texts(run.config).items() if of_laws else ():
        yield Read(
            folder(name),
            windows=f"{run.results}/{folder(text.law)}windows.parquet",
            weights=run.on_any_text(run.weights).replace("{text}", folder(name)),
            truths={LAW: f"{run.results}/{folder(text.law)}law.parquet"}
            | {of["truth"]: _stand_in(run, text.law, of) for of in truths(run.config, text)},
            against_themselves=True,
            models=learners(run.config, text),
            splits={part: f"{run.results}/{folder(name)}{file}" for part, file in SPLITS.items()},
            decodings=(PURE,),
        )


def _stand_in(run: Run, law: str, of: Mapping[str, Any]) -> str:
    """Return the file of what stands in for a law: of the model itself, or of the model at a temperature."""
    if of["temperature"] is None:
        [path] = run.of(run.logits, [of["model"]], folder(of["text"]))
        return path
    return f"{run.results}/{READ.format(law=law, learned=of['text'], model=of['model'], temperature=of['temperature'])}"


def distributions(config: Config) -> list[dict[str, Any]]:
    """Return the members of one seed with the shortest text of each law (see `plan.studies.Study`)."""
    made = [text for text in texts(config).values() if text.ranks]
    least = {text.law: min(other.sequences for other in made if other.law == text.law) for text in made}
    return [
        {
            "text": folder(text.name),
            "facts": {**model.facts, "law": text.law, "sequences": text.sequences},
            "truths": [LAW],
        }
        for text in made
        if text.sequences == least[text.law]
        for model in judged(config, text).values()
        if model.kind == "family" and model.seed == text.seeds[0]
    ]


def rows(config: Config) -> list[dict[str, Any]]:
    """Return facts of each model that learns a text, with ``law``, ``sequences`` and ``text``."""
    return [
        {"law": text.law, "sequences": text.sequences, "text": name, **model.facts}
        for name, text in texts(config).items()
        for model in judged(config, text).values()
    ]


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, if there are laws."""
    of_laws, made = laws(run.config), texts(run.config)
    if not of_laws:
        return
    held = [(folder(name), model) for name, text in made.items() for model in judged(run.config, text).values()]
    stand_ins = {of["truth"]: of for text in made.values() for of in truths(run.config, text)}

    def files(part: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
        return [f"{run.results}/{text}{part}/{model}.parquet" for text, model in pairs]

    pairs = [(text, model.name) for text, model in held]
    yield Table(
        "known_law_table",
        "show.py",
        {
            "nsmd": files("scores/nsmd", pairs),
            "forced": files("scores/forced", pairs),
            "own": files("own_contexts", [(text, model.name) for text, model in held if model.kind == "family"]),
            "marked": files("marked", full_of(run.config)),
        },
        settings(
            laws=[{"law": law.name, "rank": law.rank, "decoding": dict(law.decoding)} for law in of_laws.values()],
            learners=rows(run.config),
            stand_ins=[{key: of[key] for key in ("truth", "stand_ins", "model")} for of in stand_ins.values()],
        ),
        table=Shown("known_law", "0 Findings", "When the truth is known"),
        figure=Shown("known_law", "0 Findings", "When the truth is known, drawn"),
    )


def mistakes(config: Config) -> Iterator[str]:
    """Yield messages about laws that cannot be, and texts of no law."""
    section = config["known_law"]
    if not section["laws"]:
        return
    if not over_bytes(config):
        yield "known_law.laws: laws are of bytes, and this config reads tokens; write [], which leaves the study out"
        return
    if not _own_truths(config):
        yield "known_law.laws: a law is that of a truth that is trained here or has a `path`; add one to `truths`"
        return
    length, block = section["prompt"] + section["sampled"], (truth(config).shape or config["model"])["block"]
    for name, limit in (("the truth", block), ("the family", config["model"]["block"])):
        if length > limit:
            yield (
                f"known_law: sequences of {section['prompt']} + {section['sampled']} bytes exceed the block of {name}, "
                f"{limit}; lower known_law.sampled or known_law.prompt"
            )
    names = [law["name"] for law in section["laws"]]
    others = [TRUTH, LAW, *(other["name"] for other in section["truths"]["others"])]
    for key, given in (("laws", names), ("truths.others", others)):
        for name in sorted({name for name in given if given.count(name) > 1}):
            yield f"known_law.{key}: {name!r} is the name of another one; give each a name of its own"
    for law in section["laws"]:
        try:
            decoder(law.get("decoding", PURE))
        except UserError as error:
            yield f"known_law.laws: {law['name']}: {error}"
    known = {trained_member(config, entry, 0).arm for entry in trained_here(config)}
    rates = config["learning_rates"]["tried"]
    for text in section["texts"]:
        if text["law"] not in names:
            yield f"known_law.texts: there is no law {text['law']!r} in known_law.laws; use one of {', '.join(names)}"
        for arm in text.get("arms", []):
            if arm not in known:
                yield f"known_law.texts: no member of `family` is called {arm!r}; use {', '.join(sorted(known))}"
        for rank in text["ranks"]:
            if rates and trained_member(config, {"rank": rank}, 0).arm not in known:
                yield (
                    f"known_law.texts: learning rates are tried for members of `family` alone; add {{rank: {rank}}} to "
                    "it, or say `learning_rates: {tried: []}`"
                )
    for name in sorted(set(names) - {text["law"] for text in section["texts"]}):
        yield f"known_law.laws: no text of {name!r}; name it in known_law.texts or leave it out"
    seeds = {seed for text in section["texts"] for seed in text["seeds"]}
    if taken := sorted(seeds & {seed for kind in _kinds(config) for seed in kind.seeds}):
        yield f"known_law.truths.seeds: {taken[0]} is a seed of a text's members; a model that stands in needs its own"


def _trained(config: Config, kind: Kind, text: Text) -> list[Trained]:
    """Return the models of a kind of stand-ins, shaped as the law's truth but for the layers, one for each seed."""
    original, arm = truth(config), TRUTH if kind.name == STAND_INS else kind.name
    assert isinstance(original, Trained)  # as `kinds` has it
    shape = original.shape | ({"layers": kind.layers} if kind.layers else {})
    changed = {seed: settings(**{**original.settings, "model": shape, "seed": seed}) for seed in kind.seeds}
    models = [replace(original, name=f"{arm}-s{seed}", seed=seed, settings=of) for seed, of in changed.items()]
    return [_over(model, text, kind.passes) for model in models]


def _member(config: Config, model: Trained, text: Text) -> Trained:
    """Return a member that is trained over a text; one of fewer steps than others, over as much less of it."""
    steps = model.settings["training"]["max_steps"]
    return _over(model, text, config["known_law"]["passes"], steps / config["training"]["max_steps"])


def _over(model: Trained, text: Text, passes: int, share: float = 1.0) -> Trained:
    """Return a model that is trained over a text, each sequence so many times, or for a share of these steps."""
    training = model.settings["training"]
    steps = round(passes * text.sequences // (training["batch"] * training["accumulation"]) * share)
    changed = {"max_steps": max(1, steps), "snapshots": False, "patience": 1000}
    return replace(model, settings=settings(**{**model.settings, "training": {**training, **changed}}))


def work(config: Config) -> list[dict[str, Any]]:
    """Return the number of models that learn texts, and the operations that it takes, without sampling the texts."""
    read = [learners(config, text) for text in texts(config).values()]
    trained = [model.settings for models in read for model in models.values()]
    what = "models that learn texts of known laws"
    return [{"what": what, "count": len(trained), "operations": sum(map(training_flops, trained))}] if trained else []


STUDY = Study(
    mistakes=mistakes,
    texts_read=texts_read,
    tables=tables,
    distributions=distributions,
    work=work,
    tested={"known_law": ()},
    needs=("forced_part", "imposed_rank"),
)
