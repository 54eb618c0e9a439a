"""The models of a config: the family with its arms, truncated heads, the truths and the user's checkpoints."""

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from oversmoothing.hub.names import asset_name
from oversmoothing.training.schedule import STABLE
from plan import studies
from plan.arms import FAMILY, KINDS_OF_FAMILY, TRUNCATED, Arm, asked
from plan.model_types import ByBytes, Checkpoint, DerivedHead, Hub, Model, Trained, Trial, of_type
from plan.settings import ConfigError, settings
from plan.tokens import over_bytes, vocabulary

FIRST_TRUTH_SEED = 11  # of a truth that names none; it reads its batches in another order than the family does
BYTE_VIEW = "byte_view"  # layout of a model over tokens whose distributions of the next byte are measured
CONTEXT = {"truth": 1000, "family": 0}  # bytes before a window that a byte view also reads, unless its entry says so


def by_name(config: Mapping[str, Any]) -> dict[str, Model]:
    """Return every model of a config except those that studies add (`plan.studies.models`), by name.

    The names must differ.
    """
    models: list[Model] = []
    for seed in config["seeds"]:
        members = [trained_member(config, entry, seed) for entry in trained_here(config)]
        models += members
        if (full := _full_model(members, seed)) and config["svd_of"] is None:
            models += _truncated(config, full)
    for member in config["family"]:
        if "path" in member:
            published = _published(member)
            models.append(Checkpoint(member["name"], "family", published_as=published, path=member["path"]))
        if "hub" in member:
            models.append(_from_hub(config, member, "family"))
            models += _truncated(config, models[-1]) if member["name"] == config["svd_of"] else []
    models += [_truth(config, entry) for entry in config["truths"]]
    names = [model.name for model in models]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two models are called {name!r}; each rank, seed and name may appear only once")
    return dict(zip(names, models, strict=True))


def truncated_model(config: Mapping[str, Any]) -> str:
    """Return what to call the model whose head is truncated."""
    return config["svd_of"] or "the full model"


def trials(config: Mapping[str, Any]) -> dict[str, Trial]:
    """Return trainings that decide the learning rate of each member of the family, by name, which must differ."""
    trials: dict[str, Trial] = {}
    for member in (trained_member(config, entry, config["learning_rates"]["seed"]) for entry in trained_here(config)):
        for rate in config["learning_rates"]["tried"]:
            name = f"{member.arm}-r{rate:g}-s{member.seed}"
            if name in trials:
                raise ConfigError(
                    f"learning_rates.tried: {rate!r} and another agree in the six digits that name a trial; keep one"
                )
            training = {**member.settings["training"], "learning_rate": rate, "snapshots": False}
            of_trial = settings(**{**member.settings, "training": training})
            trials[name] = Trial(
                **{**vars(member), "name": name, "kind": "trial", "settings": of_trial}, member=member.arm
            )
    return trials


def tried(trials: Mapping[str, Trial]) -> dict[str, list[str]]:
    """Return names of the trials of each arm."""
    by_arm: dict[str, list[str]] = {}
    for name, trial in trials.items():
        by_arm.setdefault(trial.member, []).append(name)
    return by_arm


def learning_rate_file(config: Mapping[str, Any], model: Model) -> str | None:
    """Return the file with the learning rate that was chosen for a member of the family.

    None where the config says it.
    """
    chosen = isinstance(model, Trained) and "learning_rate" not in model.settings["training"]
    return f"{config['results'].rstrip('/')}/learning_rates/{model.arm}.json" if chosen else None


def names(models: Mapping[str, Model], *kinds: str) -> list[str]:
    """Return names of the models of the given kinds, kind by kind, each in the config's order."""
    return [model.name for kind in kinds for model in models.values() if model.kind == kind]


def model_rows(models: Mapping[str, Model], *kinds: str) -> list[dict[str, Any]]:
    """Return rows for a table or figure, in the order of `names`: the facts of each model."""
    return [models[name].facts for name in names(models, *kinds)]


def replicated(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return facts of the models of the family and its arms, all held against the truths; none with one seed."""
    rows = [row for row in model_rows(by_name(config), *KINDS_OF_FAMILY) if None not in (row["rank"], row["seed"])]
    return rows if len({row["seed"] for row in rows}) > 1 else []


def listed(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows of the file that lists all models: ``name``, ``kind``, ``rank``, ``seed``, ``arm``, ``source``."""
    known = by_name(config) | studies.models(config) | trials(config)
    columns = ("name", "kind", "rank", "seed", "arm")
    return [
        {key: getattr(model, key) for key in columns}
        | {"source": model.source if isinstance(model, DerivedHead) else None}
        for model in known.values()
    ]


def compared_models(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows of the models that claims compare: ``model``, ``kind``, ``rank``, ``role``, ``training``.

    ``role`` is the thesis's rank that the model stands for (`published_as`; its own rank for a head made from another),
    None if that is not a number; ``training`` the model whose training it is from. Claims speak of heads, so that byte
    views are among the truths alone.
    """
    tested = {"truth", *(arm.kind for arm in studies.arms(config) if arm.tested)}
    return [
        {
            "model": model.name,
            "kind": model.kind,
            "rank": model.rank,
            "role": int(model.published_as) if model.published_as and model.published_as.isdigit() else None,
            "training": model.original,
        }
        for model in (by_name(config) | studies.models(config)).values()
        if model.kind in tested and not (isinstance(model, ByBytes) and model.kind == "family")
    ]


def followed_models(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows of the progress table.

    Its columns are ``model``, ``kind``, ``settings``, ``learning_rate`` (a file) and ``checkpoints``.
    """
    return [
        {
            "model": model.name,
            "kind": model.kind,
            "settings": model.settings if isinstance(model, Trained) else None,
            "learning_rate": learning_rate_file(config, model),
            "checkpoints": checkpoints(config, model.name)["folder"],
        }
        for model in (trials(config) | by_name(config)).values()
    ]


def family_ranks(config: Mapping[str, Any]) -> list[int]:
    """Return ranks of the family, lowest first."""
    return sorted({model.rank for model in by_name(config).values() if model.kind == "family" and model.rank})


def with_truncated_heads(models: Mapping[str, Model]) -> dict[str, Model]:
    """Return the truncated heads, the models whose heads were truncated, and the truths, by name."""
    sources = {head.source for head in of_type(DerivedHead, models)}
    return {name: model for name, model in models.items() if model.kind != "family" or name in sources}


def checkpoints(config: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return the folder of a model's checkpoints, and the number of steps between them."""
    folder = config["checkpoints"]["folder"] or f"{config['results'].rstrip('/')}/checkpoints"
    return {"folder": f"{folder}/{model}", "interval": config["checkpoints"]["interval"]}


def trained_here(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return entries of the family that are trained here."""
    return [entry for entry in config["family"] if not {"path", "hub"} & set(entry)]


def trained_member(config: Mapping[str, Any], entry: Mapping[str, Any], seed: int) -> Trained:
    """Return the member of the family that an entry asks for."""
    arm = asked(entry)
    shape, training = ({key: entry[key] for key in keys} for keys in (arm.model, arm.training))
    if "max_steps" in training and config["training"]["decay"] != STABLE:  # the rate rises over the same share of steps
        share = training["max_steps"] / config["training"]["max_steps"]
        training["warmup_steps"] = max(1, round(share * config["training"]["warmup_steps"]))
    trained = _training_settings(config, {**shape, **arm.fixed}, training, seed)
    if config["learning_rates"]["tried"]:
        del trained["training"]["learning_rate"]  # see `learning_rate_file`
    published = str(entry.get("published_as", entry["rank"])) if arm is FAMILY else None
    processes = config["training"]["processes"]
    said = {"width": config["model"]["width"], **entry}
    name, rank = _named(arm, said, seed), said[arm.rank]
    return Trained(name, arm.kind, rank, seed, published, settings=trained, processes=processes)


def derived(arm: Arm, rank: int | None, seed: int | None, source: str, published_as: str | None = None) -> DerivedHead:
    """Return a head of an arm, named by its rank and its seed, or without one by its source."""
    return DerivedHead(_named(arm, {"rank": rank}, seed, source), arm.kind, rank, seed, published_as, source=source)


def _named(arm: Arm, entry: Mapping[str, Any], seed: int | None, source: str | None = None) -> str:
    return f"{arm.name.format(**entry)}-{source if seed is None else f's{seed}'}"


def _truncated(config: Mapping[str, Any], source: Model) -> list[DerivedHead]:
    return [derived(TRUNCATED, rank, source.seed, source.name, str(rank)) for rank in config["svd_ranks"]]


def _truth(config: Mapping[str, Any], entry: Mapping[str, Any]) -> Model:
    if "hub" in entry:
        return _from_hub(config, entry, "truth")
    others = (seed for seed in count(FIRST_TRUTH_SEED) if seed not in config["seeds"])
    name, seed, published = entry["name"], entry.get("seed", next(others)), _published(entry)
    if "path" in entry:
        return Checkpoint(name, "truth", None, seed, published, path=entry["path"])
    training = entry.get("training", {})
    trained = _training_settings(config, entry["model"], training, seed)
    processes = (config["training"] | training)["processes"]
    return Trained(name, "truth", trained["model"]["rank"], seed, published, settings=trained, processes=processes)


def _from_hub(config: Mapping[str, Any], entry: Mapping[str, Any], kind: str) -> Hub | ByBytes:
    """Return a truth or a member of the family from the hub."""
    read = _hub_settings(config, entry, CONTEXT[kind])
    published = _published(entry)
    if read["layout"] == BYTE_VIEW:
        return ByBytes(entry["name"], kind, published_as=published, settings=read)
    if kind == "family":
        read["capped"] = entry.get("capped", False)  # checked when loaded
    return Hub(entry["name"], kind, published_as=published, settings=read)


def full_models(models: Iterable[Model]) -> dict[int, str]:
    """Return the name of the member of the family with the highest rank, by seed, among those trained here."""
    known = list(models)
    seeds = sorted({model.seed for model in known if model.seed is not None})
    return {seed: model.name for seed in seeds if (model := _full_model(known, seed))}


def _full_model(models: Iterable[Model], seed: int) -> Model | None:
    """Return the member of the family with the highest rank among those trained here; None if there is none."""
    trained = [model for model in models if isinstance(model, Trained) and (model.kind, model.seed) == ("family", seed)]
    return max(trained, key=lambda model: model.rank or 0, default=None)


def used(training: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a training without those that its decay does not use."""
    unused = () if training["decay"] == STABLE else ("decay_share",)
    return {key: value for key, value in training.items() if key not in unused}


def _training_settings(
    config: Mapping[str, Any], shape: Mapping[str, Any], training: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    together = used(config["training"] | dict(training))
    del together["processes"]
    return settings(
        model={**config["model"], **vocabulary(config), "rank": None, **shape}, training=together, seed=seed
    )


def _hub_settings(config: Mapping[str, Any], entry: Mapping[str, Any], context: int) -> dict[str, Any]:
    how = {key: entry[key] for key in ("batch", "precision") if key in entry}
    layout = entry["layout"] if over_bytes(config) else "tokens"
    if over_bytes(config) and layout == "tokens":
        layout = BYTE_VIEW
    alphabet = {
        "evabyte": {"bos": entry.get("bos", True)},
        "causal_lm": {"byte_offset": entry.get("byte_offset", 0), "bos": entry.get("bos")},
        "tokens": {"bos": entry.get("bos", "auto")},
        BYTE_VIEW: {
            "bos": entry.get("bos", "auto"),
            "context": entry.get("context", context),
            "temperature": entry.get("temperature", 1.0),
        },
    }[layout]
    return settings(asset=asset_name(entry["hub"], entry.get("revision", "main")), layout=layout, **alphabet, **how)


def capped(config: Mapping[str, Any]) -> list[str]:
    """Return names of the members of the family whose logits are capped, and of those with their heads truncated.

    No head gives their logits, so what needs linear ones (BAT, what a head forces) leaves them out.
    """
    known = by_name(config)
    hub = {model.name for model in of_type(Hub, known) if model.settings.get("capped")}
    return [name for name, model in known.items() if model.original in hub]


def byte_view_settings(config: Mapping[str, Any], model: ByBytes) -> dict[str, Any]:
    """Return settings on which the distributions of a byte view depend."""
    return settings(**{key: config["inference"][key] for key in ("precision", "threads")} | model.settings)


def byte_views(config: Mapping[str, Any], *kinds: str) -> list[str]:
    """Return names of the byte views of some kinds ("truth", "family").

    They have distributions of bytes and no more: what needs a head, hidden states or samples leaves them out.
    """
    return [model.name for model in of_type(ByBytes, by_name(config)) if model.kind in kinds]


def _published(entry: Mapping[str, Any]) -> str | None:
    return str(entry["published_as"]) if "published_as" in entry else None
