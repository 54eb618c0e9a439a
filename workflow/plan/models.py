"""The models of a study: the family, truncated and retrained heads, the truths and the user's checkpoints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from plan.hub import asset_name
from plan.settings import ConfigError, settings
from plan.tokens import over_bytes, vocabulary

ARMS = ("plain", "backward", "inside", "unused")  # kinds of members that are compared with the family alone
SCORED = ("family", "plain", "backward", "inside")  # members whose classes are the truths'
NORMS = {"none": ("retrained", "ab"), "after": ("normed", "ln")}  # kind and short name by retrained.norm


@dataclass(frozen=True)
class Model:
    """One model of the study.

    Attributes
    ----------
    name : str
        The wildcard ``{model}``: ``bn4-s1337``, ``pl4-s1337`` (a plain head W = A B), ``bw4-s1337`` (a backward rank),
        ``inside-s1337``, ``v1024-s1337`` (unused classes), ``w64-s1337``, ``svd4-s1337``, ``svd64-pythia-70m``,
        ``ab4-s1337``, ``ln4-s1337``, ``bn4-r0.002-s0`` (a trial of a learning rate), or the name of a truth, of a
        checkpoint or of a member from the hub.
    kind : {"family", "plain", "backward", "inside", "unused", "svd", "truth", "retrained", "normed", "trial"}
        A "plain" or "retrained" head is W = A B, trained with the rest of the model or after it; a "normed" one has a
        LayerNorm between A and B. A full head has a gradient of lower rank in a "backward" model, is itself updated
        only inside its column space in an "inside" one, and has classes that no text uses in an "unused" one.
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
        The model whose head was truncated or retrained.
    published_as : str or None
        The thesis's name of this model.
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


def by_name(config: Mapping[str, Any]) -> dict[str, Model]:
    """Every model of a config except retrained heads, by name.

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
            found += _truncated(config, full, f"s{seed}")
    for member in config["family"]:
        if "path" in member:
            found.append(Model(member["name"], "family", path=member["path"], published_as=_published(member)))
        if "hub" in member:
            found.append(Model(member["name"], "family", hub=_hub_settings(config, member)))
            found += _truncated(config, found[-1], member["name"]) if member["name"] == config["svd_of"] else []
    found += [_truth(config, entry) for entry in config["truths"]]
    if not over_bytes(config):  # the thesis's models read bytes
        found = [replace(model, published_as=None) for model in found]
    names = [model.name for model in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two models are called {name!r}; each rank, seed and name may appear only once")
    return {model.name: model for model in found}


def truncated_model(config: Mapping[str, Any]) -> str:
    """What to call the model whose head is truncated."""
    return config["svd_of"] or "the full model"


def retrained_heads(config: Mapping[str, Any]) -> dict[str, Model]:
    """Heads retrained on the full model, one for each seed, kind and rank, by name.

    They are not part of `by_name`, because they are compared only with other ways of imposing a rank. Ranks above that
    of the full model are left out, because they would impose nothing.
    """
    heads = []
    for seed in config["seeds"]:
        full = _full_model(by_name(config).values(), seed)
        heads += [
            Model(f"{short}{rank}-s{seed}", kind, rank, seed, source=full.name, published_as=str(rank))
            for kind, short in (NORMS[norm] for norm in config["retrained"]["norm"])
            for rank in config["retrained"]["ranks"]
            if full and rank <= (full.rank or 0)
        ]
    return {head.name: head if over_bytes(config) else replace(head, published_as=None) for head in heads}


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
            trial = replace(member, name=f"{member.arm}-r{rate:g}-s{member.seed}", kind="trial", settings=own)
            if trial.name in found:
                raise ConfigError(
                    f"learning_rates.tried: {rate!r} and another agree in the six digits that name a trial; keep one"
                )
            found[trial.name] = trial
    return found


def tried(trials: Mapping[str, Model]) -> dict[str, list[str]]:
    """Names of the trials of each arm."""
    found: dict[str, list[str]] = {}
    for name in trials:
        found.setdefault(name.rpartition("-r")[0], []).append(name)
    return found


def learning_rate_file(config: Mapping[str, Any], model: Model) -> str | None:
    """File with the learning rate that was chosen for a member of the family; None where the config says it."""
    chosen = model.kind in ("family", *ARMS) and model.settings and config["learning_rates"]["tried"]
    return f"{config['results'].rstrip('/')}/learning_rates/{model.arm}.json" if chosen else None


def names(models: Mapping[str, Model], *kinds: str) -> list[str]:
    """Names of the models of the given kinds, kind by kind, each in the config's order."""
    return [model.name for kind in kinds for model in models.values() if model.kind == kind]


def model_rows(models: Mapping[str, Model], *kinds: str) -> list[dict[str, Any]]:
    """Rows for a table or figure, in the order of `names`: the facts of each model."""
    return [models[name].facts for name in names(models, *kinds)]


def listed(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the file that lists all models: ``name``, ``kind``, ``rank``, ``seed``, ``arm``, ``source``."""
    known = by_name(config) | retrained_heads(config) | trials(config)
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
    """Member of the family: a rank, an arm (see `Model`), or a width."""
    kind, published = "family", None
    shape: Mapping[str, Any] = {}
    own: dict[str, Any] = {}
    if "head" in entry:
        kind, name, rank = "plain", f"pl{entry['rank']}", entry["rank"]
        shape = {"rank": rank, "bottleneck_norm": "before"}
    elif "rank" in entry:
        name, rank, shape = f"bn{entry['rank']}", entry["rank"], {"rank": entry["rank"]}
        published = str(entry.get("published_as", rank))
    elif "backward_rank" in entry:
        kind, name, rank = "backward", f"bw{entry['backward_rank']}", entry["backward_rank"]
        own = {"backward_rank": rank}
    elif "head_gradient" in entry:
        kind, name, rank = "inside", "inside", config["model"]["width"]
        own = {"head_gradient": entry["head_gradient"]}
    elif "vocabulary" in entry:
        kind, name, rank, shape = "unused", f"v{entry['vocabulary']}", config["model"]["width"], entry
    else:
        name, rank, shape = f"w{entry['width']}", entry["width"], {"width": entry["width"], "heads": entry["heads"]}
    trained = _training_settings(config, shape, own, seed)
    if config["learning_rates"]["tried"]:
        del trained["training"]["learning_rate"]  # see `learning_rate_file`
    return Model(f"{name}-s{seed}", kind, rank, seed, trained, config["training"]["processes"], published_as=published)


def _truncated(config: Mapping[str, Any], source: Model, suffix: str) -> list[Model]:
    return [
        Model(f"svd{rank}-{suffix}", "svd", rank, source.seed, source=source.name, published_as=str(rank))
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
