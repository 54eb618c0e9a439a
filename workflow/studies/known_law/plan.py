"""The laws, the texts drawn from them, and the models that learn these."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.run.needs import training_flops
from oversmoothing.scores.decoding import decoder
from plan.models import Model, by_name, trained_here, trained_member
from plan.settings import settings
from plan.studies import Study
from plan.tokens import over_bytes
from studies.imposed_rank.plan import retraining
from studies.known_law.laws import LAW, PURE, STAND_INS, TRUTH, Kind, Law, Text

Config = Mapping[str, Any]


def laws(config: Config) -> dict[str, Law]:
    """Laws by name."""
    return {entry["name"]: Law(**entry) for entry in config["known_law"]["laws"]}


def texts(config: Config) -> dict[str, Text]:
    """Texts by name: those that members learn, then those that only stand-ins do."""
    entries = config["known_law"]["texts"]
    made = [
        Text(e["law"], e["sequences"], tuple(e["ranks"]), tuple(e["seeds"]), tuple(e.get("arms", ()))) for e in entries
    ]
    named = {text.name: text for text in made}
    further = [kind.text(law) for law in laws(config) for kind in kinds(config, law)]
    return named | {text.name: text for text in further if text.name not in named}


def shortest(config: Config) -> list[str]:
    """Names of the texts that are the shortest of their laws."""
    made = [text for text in texts(config).values() if text.ranks]
    least = {text.law: min(other.sequences for other in made if other.law == text.law) for text in made}
    return [text.name for text in made if text.sequences == least[text.law]]


def truth(config: Config) -> Model:
    """The truth whose law it is."""
    return _truths(config)[config["known_law"]["model"]]


def _truths(config: Config) -> dict[str | None, Model]:
    """Truths that are trained here or have a path, by name, and under None the first of them."""
    known = [model for model in by_name(config).values() if model.kind == "truth" and not model.hub]
    first: dict[str | None, Model] = {None: known[0]} if known else {}
    return first | {model.name: model for model in known}


def learners(config: Config, text: Text) -> dict[str, Model]:
    """The models that learn a text, by name: those that are held against its law, then further arms of the family."""
    named = [trained_member(config, entry, seed) for entry in trained_here(config) for seed in text.seeds]
    further = [_member(config, model, text) for model in named if model.arm in text.arms]
    return judged(config, text) | {model.name: model for model in further}


def by_text(config: Config) -> dict[str, dict[str, Model]]:
    """The models that learn each text, by name."""
    return {name: learners(config, text) for name, text in texts(config).items()}


def judged(config: Config, text: Text) -> dict[str, Model]:
    """The models that are held against the law of a text, by name: those of its ranks, then stand-ins for the law."""
    members = [trained_member(config, {"rank": rank}, seed) for rank in text.ranks for seed in text.seeds]
    return {model.name: model for model in (*(_member(config, m, text) for m in members), *stand_ins(config, text))}


def kinds(config: Config, law: str) -> list[Kind]:
    """Kinds of models that stand in for a law: none without a trained truth, and members at that size."""
    sizes = [text["sequences"] for text in config["known_law"]["texts"] if text["law"] == law]
    if config["known_law"]["truths"]["sequences"] not in sizes or not truth(config).settings:
        return []
    return [Kind(**entry) for entry in _kinds(config)]


def _kinds(config: Config) -> list[dict[str, Any]]:
    """Entries of all kinds of stand-ins: the first, then the others, which say what differs from it."""
    section = dict(config["known_law"]["truths"])
    others, _ = section.pop("others"), section.pop("temperatures")
    return [{**section, **entry} for entry in ({"name": STAND_INS}, *others)]


def stand_ins(config: Config, text: Text) -> list[Model]:
    """Models that learn a text to stand in for its law."""
    kinds_of = [kind for kind in kinds(config, text.law) if kind.text(text.law).name == text.name]
    return [model for kind in kinds_of for model in _trained(config, kind, text)]


def truths(config: Config, text: Text) -> list[dict[str, Any]]:
    """What stands in for the law of a text that members learn, if the text is of the size that the config names.

    ``truth`` is its name and ``stand_ins`` that of its kind; ``model`` is the one that gives its distributions, which
    learned ``text``, and ``temperature`` the one at which this is read, or None.
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


def training_sequences(config: Config, law: str) -> int:
    """Number of sequences to draw from a law for its longest text."""
    return max(text.after + text.sequences for text in texts(config).values() if text.law == law)


def text_settings(config: Config, law: Law) -> dict[str, Any]:
    """Settings on which the text of a law depends."""
    section = config["known_law"]
    counts = {"train": training_sequences(config, law.name), **section["held_out"]}
    how = {"batch": config["samples"]["batch"], "precision": "float32", "threads": config["inference"]["threads"]}
    return settings(
        sequences=counts,
        prompt=section["prompt"],
        sampled=section["sampled"],
        seed=section["seed"],
        decoding=dict(law.decoding),
        **how,
    )


def corpus_settings(config: Config, text: Text) -> dict[str, Any]:
    """Settings on which the corpus of a text depends, beyond the text of its law."""
    section = config["known_law"]
    after = {"after": text.after} if text.after else {}
    return settings(sequences=text.sequences, prompt=section["prompt"], sampled=section["sampled"], **after)


def head_settings(config: Config, law: Law) -> dict[str, Any]:
    """Settings of the head of a law of known rank, retrained as those of `retrained` are."""
    return settings(rank=law.rank, norm="none", reads="post", **retraining(config))


def rows(config: Config) -> list[dict[str, Any]]:
    """Facts of each model that learns a text, with ``law``, ``sequences``, ``text`` and ``stand_in``."""
    return [
        {"law": text.law, "sequences": text.sequences, "text": name, "stand_in": model.kind == "truth", **model.facts}
        for name, text in texts(config).items()
        for model in judged(config, text).values()
    ]


def mistakes(config: Config) -> Iterator[str]:
    """Messages about laws that cannot be, and texts of no law."""
    section = config["known_law"]
    if not section["laws"]:
        return
    if not over_bytes(config):
        yield "known_law.laws: laws are of bytes, and this config reads tokens; write [], which leaves the study out"
        return
    truths = _truths(config)
    if section["model"] not in truths:
        yield (
            f"known_law.model: {section['model']!r} is no truth that is trained here or has a `path`; use one of "
            f"{', '.join(name for name in truths if name) or 'them'}"
        )
        return
    length, block = section["prompt"] + section["sampled"], (truth(config).shape or config["model"])["block"]
    for name, limit in (("the truth", block), ("the family", config["model"]["block"])):
        if length > limit:
            yield (
                f"known_law: sequences of {section['prompt']} + {section['sampled']} bytes exceed the block of {name}, "
                f"{limit}; lower known_law.sampled or known_law.prompt"
            )
    names = [law["name"] for law in section["laws"]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"known_law.laws: two are called {name!r}; give each a name of its own"
    for law in section["laws"]:
        try:
            decoder(law.get("decoding", PURE))
        except UserError as error:
            yield f"known_law.laws: {law['name']}: {error}"
    for text in section["texts"]:
        if text["law"] not in names:
            yield f"known_law.texts: there is no law {text['law']!r} in known_law.laws; use one of {', '.join(names)}"
    known = {trained_member(config, entry, 0).arm for entry in trained_here(config)}
    rates = config["learning_rates"]["tried"]
    for text in section["texts"]:
        for arm in text.get("arms", []):
            if arm not in known:
                yield f"known_law.texts: no member of `family` is called {arm!r}; use {', '.join(sorted(known))}"
        for rank in text["ranks"]:
            if rates and trained_member(config, {"rank": rank}, 0).arm not in known:
                yield (
                    f"known_law.texts: learning rates are tried for members of `family` alone; add {{rank: {rank}}} to "
                    "it, or say `learning_rates: {tried: []}`"
                )
    for name in names:
        if not any(text["law"] == name for text in section["texts"]):
            yield f"known_law.laws: no text of {name!r}; name it in known_law.texts or leave it out"
    seeds = {seed for text in section["texts"] for seed in text["seeds"]}
    if taken := sorted(seeds & {seed for kind in _kinds(config) for seed in kind["seeds"]}):
        yield f"known_law.truths.seeds: {taken[0]} is a seed of a text's members; a model that stands in needs its own"
    taken_names = [TRUTH, LAW, *(other["name"] for other in section["truths"]["others"])]
    for name in sorted({name for name in taken_names if taken_names.count(name) > 1}):
        yield f"known_law.truths.others: {name!r} is the name of another truth; give each a name of its own"


def _trained(config: Config, kind: Kind, text: Text) -> list[Model]:
    """Return the models of a kind of stand-ins, shaped as the law's truth but for the layers, one for each seed."""
    original, arm = truth(config), TRUTH if kind.name == STAND_INS else kind.name
    shape = original.settings["model"] | ({"layers": kind.layers} if kind.layers else {})
    changed = {seed: settings(**{**original.settings, "model": shape, "seed": seed}) for seed in kind.seeds}
    models = [replace(original, name=f"{arm}-s{seed}", seed=seed, settings=of) for seed, of in changed.items()]
    return [_over(model, text, kind.passes) for model in models]


def _member(config: Config, model: Model, text: Text) -> Model:
    """Return a member that is trained over a text; one of fewer steps than others, over as much less of it."""
    steps = model.settings["training"]["max_steps"]
    return _over(model, text, config["known_law"]["passes"], steps / config["training"]["max_steps"])


def _over(model: Model, text: Text, passes: int, share: float = 1.0) -> Model:
    """Return a model that is trained over a text, each sequence so many times, or for a share of these steps."""
    training = model.settings["training"]
    steps = round(passes * text.sequences // (training["batch"] * training["accumulation"]) * share)
    changed = {"max_steps": max(1, steps), "snapshots": False, "patience": 1000}
    return replace(model, settings=settings(**{**model.settings, "training": {**training, **changed}}))


def work(config: Config) -> list[dict[str, Any]]:
    """Number of models that learn texts, and operations that it takes; sampling the texts is not counted."""
    trained = [model.settings for models in by_text(config).values() for model in models.values()]
    what = "models that learn texts of known laws"
    return [{"what": what, "count": len(trained), "operations": sum(map(training_flops, trained))}] if trained else []


STUDY = Study(mistakes=mistakes, learners=by_text, work=work, needs=("forced_part", "imposed_rank"))
