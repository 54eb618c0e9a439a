"""The models of a config: the family with its arms, truncated heads, the truths and the user's checkpoints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from plan import studies
from plan.arms import ALONE, FAMILY, TRUNCATED, Arm, asked
from plan.hub import asset_name
from plan.settings import ConfigError, settings
from plan.tokens import over_bytes, vocabulary


@dataclass(frozen=True)
class Model:
    """One model.

    Attributes
    ----------
    name : str
        The wildcard ``{model}``: that of its arm (see `plan.arms`) and its seed, ``bn4-s1337``, or the model it is made
        from, ``svd64-pythia-70m``; ``bn4-r0.002-s0``, a trial of a learning rate; or the name of a truth, of a
        checkpoint or of a member from the hub.
    kind : str
        That of its arm, "truth" or "trial".
    rank : int or None
        Rank of the head's input, or of the gradient of a "backward" model; None if the config does not say.
    seed : int or None
    settings : dict or None
        Settings of the training: ``model``, ``training``, ``seed``. None for a model that is not trained here.
    processes : int
        Number of processes that train it; not part of `settings`, because it only decides where training runs.
    path : str or None
        The user's checkpoint.
    hub : dict or None
        A model from the hub: ``asset``, ``layout``, ``byte_offset``, ``bos``, ``batch``, ``precision``.
    source : str or None
        The model from whose head its own was made.
    published_as : str or None
        The thesis's name of this model.
    member : str or None
        Of a trial, the arm whose learning rate it decides.
    """

    name: str
    kind: str
    rank: int | None = None
    seed: int | None = None
    settings: dict[str, Any] | None = None
    processes: int = 1
    path: str | None = None
    source: str | None = None
    published_as: str | None = None
    hub: dict[str, Any] | None = None
    member: str | None = None

    @property
    def arm(self) -> str:
        """Its name without the seed."""
        return self.name.removesuffix(f"-s{self.seed}")

    @property
    def facts(self) -> dict[str, Any]:
        """What the rows of tables say of it."""
        return {"model": self.name, "kind": self.kind, "rank": self.rank, "seed": self.seed, "arm": self.arm}

    @property
    def shape(self) -> dict[str, Any] | None:
        """The `model` settings that the weights must have; None for a model that is not trained here."""
        return self.settings["model"] if self.settings else None


def of_arm(arm: Arm, entry: Mapping[str, Any], seed: int | None, source: str | None = None, **facts: Any) -> Model:
    """Return a model of an arm, named by its entry and its seed, or without one by its source."""
    name = f"{arm.name.format(**entry)}-{source if seed is None else f's{seed}'}"
    return Model(name, arm.kind, entry[arm.rank], seed, source=source, **facts)


def by_name(config: Mapping[str, Any]) -> dict[str, Model]:
    """Every model of a config except those that studies add (`plan.studies.models`), by name.

    Raises
    ------
    ConfigError
        If two models would have the same name.
    """
    found: list[Model] = []
    for seed in config["seeds"]:
        members = [_member(config, entry, seed) for entry in config["family"] if not {"path", "hub"} & set(entry)]
        found += members
        if (full := _full_model(members, seed)) and config["svd_of"] is None:
            found += _truncated(config, full)
    for member in config["family"]:
        if "path" in member:
            found.append(Model(member["name"], "family", path=member["path"], published_as=_published(member)))
        if "hub" in member:
            found.append(Model(member["name"], "family", hub=_hub_settings(config, member)))
            found += _truncated(config, found[-1]) if member["name"] == config["svd_of"] else []
    found += [_truth(config, entry) for entry in config["truths"]]
    names = [model.name for model in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two models are called {name!r}; each rank, seed and name may appear only once")
    return {model.name: model for model in found}


def truncated_model(config: Mapping[str, Any]) -> str:
    """What to call the model whose head is truncated."""
    return config["svd_of"] or "the full model"


def trials(config: Mapping[str, Any]) -> dict[str, Model]:
    """Trainings that decide the learning rate of each member of the family, by name; none if none are to be tried.

    Raises
    ------
    ConfigError
        If two learning rates would have the same name.
    """
    chosen = config["learning_rates"]
    entries = [entry for entry in config["family"] if not {"path", "hub"} & set(entry)]
    found: dict[str, Model] = {}
    for member in (_member(config, entry, chosen["seed"]) for entry in entries):
        trained = member.settings or {}
        for rate in chosen["tried"]:
            training = {**trained["training"], "learning_rate": rate, "snapshots": False}
            own = settings(**{**trained, "training": training})
            name = f"{member.arm}-r{rate:g}-s{member.seed}"
            trial = replace(member, name=name, kind="trial", settings=own, member=member.arm)
            if trial.name in found:
                raise ConfigError(
                    f"learning_rates.tried: {rate!r} and another agree in the six digits that name a trial; keep one"
                )
            found[trial.name] = trial
    return found


def tried(trials: Mapping[str, Model]) -> dict[str, list[str]]:
    """Names of the trials of each arm."""
    found: dict[str, list[str]] = {}
    for name, trial in trials.items():
        found.setdefault(str(trial.member), []).append(name)
    return found


def learning_rate_file(config: Mapping[str, Any], model: Model) -> str | None:
    """File with the learning rate that was chosen for a member of the family; None where the config says it."""
    chosen = model.kind in ("family", *ALONE) and model.settings and config["learning_rates"]["tried"]
    return f"{config['results'].rstrip('/')}/learning_rates/{model.arm}.json" if chosen else None


def names(models: Mapping[str, Model], *kinds: str) -> list[str]:
    """Names of the models of the given kinds, kind by kind, each in the config's order."""
    return [model.name for kind in kinds for model in models.values() if model.kind == kind]


def model_rows(models: Mapping[str, Model], *kinds: str) -> list[dict[str, Any]]:
    """Rows for a table or figure, in the order of `names`: the facts of each model."""
    return [models[name].facts for name in names(models, *kinds)]


def listed(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the file that lists all models: ``name``, ``kind``, ``rank``, ``seed``, ``arm``, ``source``."""
    known = by_name(config) | studies.models(config) | trials(config)
    columns = ("name", "kind", "rank", "seed", "arm", "source")
    return [{key: getattr(model, key) for key in columns} for model in known.values()]


def family_ranks(config: Mapping[str, Any]) -> list[int]:
    """Ranks of the family, lowest first."""
    return sorted({model.rank for model in by_name(config).values() if model.kind == "family" and model.rank})


def family_by_rank(config: Mapping[str, Any]) -> dict[int, list[str]]:
    """Names of the members of the family by rank, lowest first, each rank's in the order of the seeds."""
    family = [model for model in by_name(config).values() if model.kind == "family"]
    return {rank: [model.name for model in family if model.rank == rank] for rank in family_ranks(config)}


def with_truncated_heads(models: Mapping[str, Model]) -> dict[str, Model]:
    """Truncated heads, the models whose heads were truncated, and the truths, by name."""
    sources = {model.source for model in models.values()}
    return {name: model for name, model in models.items() if model.kind != "family" or name in sources}


def checkpoints(config: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Folder of a model's checkpoints, and number of steps between them."""
    folder = config["checkpoints"]["folder"] or f"{config['results'].rstrip('/')}/checkpoints"
    return {"folder": f"{folder}/{model}", "interval": config["checkpoints"]["interval"]}


def _member(config: Mapping[str, Any], entry: Mapping[str, Any], seed: int) -> Model:
    """Member of the family that an entry asks for."""
    arm = asked(entry)
    shape, training = ({key: entry[key] for key in keys} for keys in (arm.model, arm.training))
    trained = _training_settings(config, {**shape, **arm.fixed}, training, seed)
    if config["learning_rates"]["tried"]:
        del trained["training"]["learning_rate"]  # see `learning_rate_file`
    published = str(entry.get("published_as", entry["rank"])) if arm is FAMILY else None
    processes = config["training"]["processes"]
    width = {"width": config["model"]["width"]}
    return of_arm(arm, {**width, **entry}, seed, settings=trained, processes=processes, published_as=published)


def _truncated(config: Mapping[str, Any], source: Model) -> list[Model]:
    return [
        of_arm(TRUNCATED, {"rank": rank}, source.seed, source.name, published_as=str(rank))
        for rank in config["svd_ranks"]
    ]


def _truth(config: Mapping[str, Any], entry: Mapping[str, Any]) -> Model:
    own_training = entry.get("training", {})
    seed = entry.get("seed", config["seeds"][0])
    trained = _training_settings(config, entry["model"], own_training, seed) if "model" in entry else None
    return Model(
        entry["name"],
        "truth",
        trained["model"]["rank"] if trained else None,
        seed,
        trained,
        (config["training"] | own_training)["processes"],
        path=entry.get("path"),
        published_as=_published(entry),
        hub=_hub_settings(config, entry) if "hub" in entry else None,
    )


def full_models(models: Iterable[Model]) -> dict[int, str]:
    """Name of the member of the family with the highest rank, by seed, among those trained here."""
    known = list(models)
    seeds = sorted({model.seed for model in known if model.seed is not None})
    return {seed: model.name for seed in seeds if (model := _full_model(known, seed))}


def _full_model(models: Iterable[Model], seed: int) -> Model | None:
    """Member of the family with the highest rank among those trained here; None if there is none."""
    trained = [model for model in models if model.kind == "family" and model.settings and model.seed == seed]
    return max(trained, key=lambda model: model.rank or 0, default=None)


def _training_settings(
    config: Mapping[str, Any], shape: Mapping[str, Any], training: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    together = {**config["training"], **training}
    del together["processes"]
    return settings(
        model={**config["model"], **vocabulary(config), "rank": None, **shape}, training=together, seed=seed
    )


def _hub_settings(config: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: entry[key] for key in ("batch", "precision") if key in entry}
    layout = entry["layout"] if over_bytes(config) else "tokens"
    alphabet = {
        "evabyte": {"bos": entry.get("bos", True)},
        "causal_lm": {"byte_offset": entry.get("byte_offset", 0), "bos": entry.get("bos")},
        "tokens": {"bos": entry.get("bos", "auto")},
    }[layout]
    return settings(asset=asset_name(entry["hub"], entry.get("revision", "main")), layout=layout, **alphabet, **own)


def _published(entry: Mapping[str, Any]) -> str | None:
    return str(entry["published_as"]) if "published_as" in entry else None
