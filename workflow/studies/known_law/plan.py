"""The laws, the texts drawn from them, and the models that learn these."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.run.needs import training_flops
from oversmoothing.scores.decoding import decoder, links
from plan.models import Model, by_name, trained_here, trained_member
from plan.settings import settings
from plan.studies import Study
from plan.tokens import over_bytes
from studies.imposed_rank.plan import retraining

PURE = {"name": "pure"}
WITHOUT_ZEROS = ("pure", "temperature")  # all other methods give some bytes nothing
Config = Mapping[str, Any]


@dataclass(frozen=True)
class Law:
    """A law: its name, the rank of its head, if that is not the truth's own, and its decoding."""

    name: str
    rank: int | None = None
    decoding: Mapping[str, Any] = field(default_factory=lambda: PURE)

    @property
    def has_zeros(self) -> bool:
        """Whether it gives some bytes nothing."""
        return any(link["name"] not in WITHOUT_ZEROS for link in links(self.decoding))


@dataclass(frozen=True)
class Text:
    """Sequences drawn from a law to train on."""

    law: str
    sequences: int
    ranks: tuple[int, ...]
    seeds: tuple[int, ...]
    arms: tuple[str, ...] = ()  # of the family, which also learn it

    @property
    def name(self) -> str:
        """Its name in paths."""
        return f"{self.law}-{self.sequences}"


def laws(config: Config) -> dict[str, Law]:
    """Laws by name."""
    return {entry["name"]: Law(**entry) for entry in config["known_law"]["laws"]}


def texts(config: Config) -> dict[str, Text]:
    """Texts by name."""
    entries = config["known_law"]["texts"]
    made = [
        Text(e["law"], e["sequences"], tuple(e["ranks"]), tuple(e["seeds"]), tuple(e.get("arms", ()))) for e in entries
    ]
    return {text.name: text for text in made}


def shortest(config: Config) -> list[str]:
    """Names of the texts that are the shortest of their laws."""
    made = texts(config).values()
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


def stand_ins(config: Config, text: Text) -> list[Model]:
    """Models shaped as the truth that learn a text to stand in for its law."""
    section, original = config["known_law"]["truths"], truth(config)
    if text.sequences != section["sequences"] or not original.settings:
        return []
    trained = {seed: settings(**{**original.settings, "seed": seed}) for seed in section["seeds"]}
    models = [replace(original, name=f"truth-s{seed}", seed=seed, settings=of) for seed, of in trained.items()]
    return [_over(model, text, section["passes"]) for model in models]


def training_sequences(config: Config, law: str) -> int:
    """Number of sequences to draw from a law for its longest text."""
    return max(text.sequences for text in texts(config).values() if text.law == law)


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
    return settings(sequences=text.sequences, prompt=section["prompt"], sampled=section["sampled"])


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
    if taken := sorted(seeds & set(section["truths"]["seeds"])):
        yield f"known_law.truths.seeds: {taken[0]} is a seed of a text's members; a model that stands in needs its own"


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
