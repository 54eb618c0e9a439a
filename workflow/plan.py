"""From the config to what is to be built: which models there are, and what each of them depends on.

Pure Python and quick to import, because every job of a cluster run parses the workflow again.
"""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from glob import glob
from importlib.metadata import version
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError

METRICS = ("tto", "nsmd", "tv", "kl", "entropy_difference")
OF_SCORES = ("tau", "delta", "condition")  # settings of scores, which other tables do not depend on

# The thesis's shapes (3.3 and its footnote), to say where a row of ours is not like the published one.
FAMILY_SHAPE = {"layers": 16, "heads": 16, "width": 512, "block": 1024}
TAU = 0.9
DELTA = math.log(1 / 0.8)
EVABYTE = "EvaByte--EvaByte@"  # the asset, whatever its revision
TRUTH_SHAPES = {"NanoGPT 300M": {"layers": 24, "heads": 16, "width": 1024, "block": 1024}}


# Bytes of what a config may ask the hub for. FineWeb's shards hold about 10 billion tokens of 4.5 bytes in 30.7 GB.
SHARD_BYTES = {"sample/10BT/014_00000.parquet": 574_962_194}
USUAL_SHARD = 2_150_000_000
TEXT_PER_PARQUET = 1.5
TEXT_PER_BYTE = dict.fromkeys((".parquet", ".pq"), TEXT_PER_PARQUET) | dict.fromkeys(
    (".gz", ".bz2", ".xz", ".zst", ".lz4"), 4
)
MODELS_ON_THE_HUB = {
    "openai-community/gpt2-large": 3_100_000_000,
    "EvaByte/EvaByte": 13_000_000_000,
    "EleutherAI/pythia-70m": 170_000_000,  # of each revision
}

DAY = 1440  # minutes
RETRAINED = {"none": ("retrained", "ab"), "after": ("normed", "ln")}  # by retrained.norm: kind, and in names


class ConfigError(WorkflowError):
    """A mistake in the config; the message names the key, and Snakemake prints it without a traceback."""


@dataclass(frozen=True)
class Model:
    """One model of the study.

    Attributes
    ----------
    name : str
        The wildcard ``{model}``: ``bn4-s1337``, ``w64-s1337``, ``svd4-s1337``, ``ab4-s1337``, ``ln4-s1337``, a truth's
        name, a checkpoint's name.
    kind : {"family", "svd", "truth", "retrained", "normed"}
        Retrained heads are W = A B, normed ones have a LayerNorm between A and B.
    rank : int or None
        Of what enters the head; None where the config does not say.
    seed : int or None
    settings : dict or None
        What training depends on: ``model``, ``training``, ``seed``. None for what is not trained here.
    processes : int
        That train it together: where it is computed, and so no part of `settings`.
    path : str or None
        The user's checkpoint.
    hub : dict or None
        A truth from the hub: ``asset``, ``layout``, ``byte_offset``, ``bos``, ``batch``, ``precision``.
    source : str or None
        For "svd", "retrained" and "normed": the model whose head is truncated, or retrained.
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


@dataclass(frozen=True)
class Revision:
    """One revision of a model of other people.

    Attributes
    ----------
    model, revision : str
        As the config names them.
    step : int or None
        Of training; None where the revision's name has none.
    asset : str
        The manifest's name.
    source : dict
        What is fetched, or the user's folder (see `assets`).
    settings : dict
        What measuring it depends on.
    """

    model: str
    revision: str
    step: int | None
    asset: str
    source: dict[str, str]
    settings: dict[str, Any]


def models(config: Mapping[str, Any]) -> dict[str, Model]:
    """List every model of a config by name.

    Raises
    ------
    ConfigError
        If two models would have the same name.
    """
    found: list[Model] = []
    for seed in config["seeds"]:
        members = [_member(config, entry, seed) for entry in config["family"] if "path" not in entry]
        found += members
        if full := _full(members, seed):
            for rank in config["svd_ranks"]:
                found.append(Model(f"svd{rank}-s{seed}", "svd", rank, seed, source=full.name, published_as=str(rank)))
    for member in config["family"]:
        if "path" in member:
            found.append(Model(member["name"], "family", path=member["path"], published_as=_published(member)))
    for truth in config["truths"]:
        seed = truth.get("seed", config["seeds"][0])
        trained = None
        if "model" in truth:
            trained = _training_settings(config, truth["model"], truth.get("training", {}), seed)
        rank = trained["model"]["rank"] if trained else None
        found.append(
            Model(
                truth["name"],
                "truth",
                rank,
                seed,
                trained,
                (config["training"] | truth.get("training", {}))["processes"],
                path=truth.get("path"),
                published_as=_published(truth),
                hub=_from_hub(truth) if "hub" in truth else None,
            )
        )
    names = [model.name for model in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two models are called {name!r}; each rank, seed and name may stand once")
    return {model.name: model for model in found}


def retrained(config: Mapping[str, Any]) -> dict[str, Model]:
    """List by name the heads retrained on the family's member of highest rank, one for each seed, kind and rank.

    They are not among `models`, because they are compared with other ways to impose a rank and with nothing else. A
    rank above the family's highest makes no head: nothing would be imposed.
    """
    heads = []
    for seed in config["seeds"]:
        full = _full(models(config).values(), seed)
        heads += [
            Model(f"{short}{rank}-s{seed}", kind, rank, seed, source=full.name, published_as=str(rank))
            for kind, short in (RETRAINED[norm] for norm in config["retrained"]["norm"])
            for rank in config["retrained"]["ranks"]
            if full and rank <= (full.rank or 0)
        ]
    return {head.name: head for head in heads}


def retraining(config: Mapping[str, Any], head: Model) -> dict[str, Any]:
    """Give what a retrained head depends on; the model before it runs as it did in its training."""
    chosen = {key: value for key, value in config["retrained"].items() if key not in ("ranks", "norm")}
    norm = next(norm for norm, (kind, _) in RETRAINED.items() if kind == head.kind)
    how = {key: config["training"][key] for key in ("precision", "threads")}
    return settings(rank=head.rank, norm=norm, **chosen, **how)


def imposed(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Say of each model on which a rank was imposed, in one of three ways, what the table of them prints.

    Returns
    -------
    list of dict
        ``model``, ``kind`` ("family", "svd", "retrained" or "normed"), ``rank``, ``seed``; none where no rank is known.
    """
    known = models(config) | retrained(config)
    return [row for row in described(known, "family", "svd", "retrained", "normed") if row["rank"] is not None]


def others(config: Mapping[str, Any]) -> dict[str, Revision]:
    """List the revisions of other people's models, by the path of their results: ``pythia-70m/step0``.

    Raises
    ------
    ConfigError
        If one stands twice.
    """
    found: dict[str, Revision] = {}
    common = {key: value for key, value in config["others"].items() if key != "models"}
    for entry in config["others"]["models"]:
        for revision in entry.get("revisions", ["main"]):
            place = f"{entry['name']}/{_file_name(revision)}"
            if place in found:
                raise ConfigError(f"others.models: {place} stands twice; each name and revision may stand once")
            name, source = _source(entry, revision)
            meant = entry.get("main_is", revision) if revision == "main" else revision
            own = {key: entry[key] for key in ("batch", "precision") if key in entry}
            found[place] = Revision(entry["name"], revision, step(meant), name, source, settings(**common | own))
    return found


def step(revision: str) -> int | None:
    """Read the step of training off a revision's name: 143000 from step143000 or stage1-step143000-tokens300B."""
    found = re.search(r"(?<![A-Za-z])(?:step|checkpoint)[-_]?(\d+)", revision)
    return int(found[1]) if found else None


def revisions(others: Mapping[str, Revision]) -> list[dict[str, Any]]:
    """Say what a table prints about each revision: ``model``, ``revision``, ``step``."""
    return [{"model": one.model, "revision": one.revision, "step": one.step} for one in others.values()]


def other_memory(revision: Revision, manifest: str, attempt: int = 1) -> int:
    """Estimate the memory of measuring another's model in MB: float32 weights, logits of a batch, and 3 GB for PyTorch.

    On the hub weights mostly have two bytes. Until the manifest is there, 16 GB are asked for.
    """
    if not Path(manifest).is_file():
        return grown(16_000, attempt)
    try:
        files = json.loads(Path(manifest).read_text(encoding="utf-8"))["files"]
        stored = sum(facts["size"] for path, facts in files.items() if path.endswith(".safetensors"))
    except (ValueError, TypeError, KeyError, AttributeError):
        return grown(16_000, attempt)  # the job names the damaged manifest
    logits = 8 * 60_000 * revision.settings["batch"] * revision.settings["context"]
    return grown(3000 + (3 * stored + logits) // 10**6, attempt)


def shape(model: Model) -> dict[str, Any] | None:
    """Give the `model` settings that a model's weights must have; None for a checkpoint of the user's own."""
    return model.settings["model"] if model.settings else None


def assets(config: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """List by name what is to be fetched: ``repository`` and ``revision``, or the user's ``folder``.

    ``otherwise`` is the revision to fetch where the hub has no such one; a folder read ``instead_of`` a missing one
    says so.
    """
    wanted = [(truth["hub"], truth.get("revision", "main")) for truth in config["truths"] if "hub" in truth]
    if config["quality"]["language_model"]:
        wanted.append(language_model(config))
    found = {
        asset(source, revision): settings(
            **(
                {"folder": str(as_folder(source))}
                if as_folder(source)
                else {"repository": source, "revision": revision}
            )
        )
        for source, revision in wanted
    }
    return found | {other.asset: other.source for other in others(config).values()}


def asset(source: str, revision: str) -> str:
    """Name the manifest of a model on the hub, or in a folder."""
    return _file_name(f"folder-{source}" if as_folder(source) else f"{source}@{revision}")


def asset_files(source: Mapping[str, str]) -> list[str]:
    """List the files of the user's folder, so that Snakemake sees a change in one of them; none for the hub."""
    folder = Path(source.get("folder", ""))
    if "folder" not in source or not folder.is_dir():
        return []
    return sorted(str(path) for path in folder.iterdir() if path.suffix in (".json", ".safetensors", ".txt", ".model"))


def language_model(config: Mapping[str, Any]) -> tuple[str, str]:
    """Split ``quality.language_model`` into the name on the hub, or the folder, and the revision."""
    name = config["quality"]["language_model"]
    source, _, revision = (name, "", "") if as_folder(name) else name.partition("@")
    return source, revision or "main"


def as_folder(source: str) -> Path | None:
    """Return the folder that a name means; None for a name on the hub, which has at most two parts."""
    path = Path(os.path.expanduser(source))  # noqa: PTH111 (Path's own raises where there is no such user)
    is_path = path.is_absolute() or len(path.parts) > 2 or source.startswith((".", "~"))
    return path if is_path or path.is_dir() else None


def corpus_files(config: Mapping[str, Any]) -> list[str]:
    """List the files that the corpus is made of, so that Snakemake sees a change in one of them."""
    if config["corpus"]["source"] == "fineweb":
        return [fetched_corpus(config)]
    return matching_files(config["corpus"]["paths"])


def text_of_files(config: Mapping[str, Any]) -> int:
    """Estimate the bytes of text in the files that the config names: what is compressed unfolds."""
    sizes = {path: Path(path).stat().st_size for path in corpus_files(config)}
    return round(sum(TEXT_PER_BYTE.get(Path(path).suffix.lower(), 1) * size for path, size in sizes.items()))


def corpus_memory(config: Mapping[str, Any], attempt: int = 1) -> int:
    """Estimate the memory of building the corpus in MB.

    From files, it grows with the text, by at most four bytes for each: a hash of each document, and one of each word
    in validation and evaluation, sorted once. Shards of FineWeb leave less behind.
    """
    text = text_of_files(config) if config["corpus"]["source"] == "files" else 0
    return grown(4000 + 4 * text // 10**6, attempt)


def matching_files(patterns: Iterable[str]) -> list[str]:
    """List the files that globs match, sorted and each once."""
    return sorted({path for pattern in patterns for path in _files(pattern)})


def language_settings(config: Mapping[str, Any], files: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Give what the spectrum of a text depends on: a split of the corpus, or files that `language.corpora` names."""
    language = config["language"]
    chosen = {key: language[key] for key in ("contexts", "singular_values", "bytes", "seen", "seed")}
    if files is None:
        return settings(**chosen)
    own = {"paths": files["paths"], "column": files.get("column", "text"), "separator": config["corpus"]["separator"]}
    return settings(**chosen, **own)


def ranks(config: Mapping[str, Any]) -> list[int]:
    """List the ranks of the family, lowest first."""
    return sorted({model.rank for model in models(config).values() if model.kind == "family" and model.rank})


def fetched_corpus(config: Mapping[str, Any]) -> str:
    """Name the manifest of the shards that were fetched; each config has its own, the shards they share."""
    return f"{config['results'].rstrip('/')}/fetched/corpus.json"


def corpus_folder(config: Mapping[str, Any]) -> str:
    """Name the folder of a dataset's files, which the configs that use it share."""
    return f"{config['assets'].rstrip('/')}/{config['corpus']['fineweb']['repository']}"


def corpus_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the corpus depends on: its keys of the config and, for docstrings, the packages' versions."""
    corpus = config["corpus"]
    if corpus["source"] == "fineweb":  # which shards, and how much of them, the fetched manifest says
        chosen = {key: corpus[key] for key in ("source", "column", "separator")}
        return settings(**chosen, validation=corpus["fineweb"]["validation"])
    chosen = settings(**{key: value for key, value in corpus.items() if key != "fineweb"})
    if chosen["source"] == "docstrings":
        from oversmoothing.corpus.harvest import PACKAGES

        chosen["packages"] = {name: version(package).partition("+")[0] for name, package in sorted(PACKAGES.items())}
    return chosen


def fetch_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a fetched corpus depends on."""
    corpus = config["corpus"]
    fetched = {key: value for key, value in corpus["fineweb"].items() if key != "validation"}
    return settings(**fetched, column=corpus["column"])


def bytes_needed(config: Mapping[str, Any]) -> dict[str, int]:
    """Return how many bytes each split must have for training and windows to be possible at all."""
    blocks = [model.settings["model"]["block"] for model in models(config).values() if model.settings]
    window = config["windows"]["prompt"] + config["windows"]["scored"]
    block = max(blocks, default=0)
    return {"train": block + 1, "validation": block + 1, "evaluation": 2 * config["windows"]["count"] * window}


def checkpoints(config: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Say where the trainings of a model keep their checkpoints, and after how many steps they write one."""
    folder = config["checkpoints"]["folder"] or f"{config['results'].rstrip('/')}/checkpoints"
    return {"folder": f"{folder}/{model}", "interval": config["checkpoints"]["interval"]}


def training_memory(model: Model, attempt: int = 1) -> int:
    """Estimate the memory of a training in MB.

    Weights, gradients and two moments in float32, twice while they are saved, and 3 GB for PyTorch and activations;
    all of it in each process.
    """
    return grown(model.processes * (3000 + 32 * _weights(model) // 10**6), attempt)


def training_time(config: Mapping[str, Any], model: Model) -> int:
    """Estimate the time of a training in minutes, generously, but ask for no more than a day.

    Six floating-point operations per weight and byte, at a third of what a GPU of 2020 does with models so small, or
    at what one CPU thread does. A training that hits its limit saves, and its retry goes on from there: so a retry
    needs no more time, and a longer training needs retries and not a queue that admits jobs of weeks.
    """
    training = (model.settings or {})["training"]
    seen = (
        training["max_steps"] * training["accumulation"] * training["batch"] * (model.settings or {})["model"]["block"]
    )
    speed = model.processes * (3e13 if gpus(config) else 1e10 * training["threads"])
    return min(DAY, 30 + round(6 * _weights(model) * seen / speed / 60))


def stop_signal(model: Model) -> str:
    """Ask SLURM to send SIGTERM to a training before its time is up: two minutes, and one for each GB that it saves."""
    saved = 12 * _weights(model)
    return f"--signal=TERM@{120 + 60 * round(saved / 10**9)}"


def grown(resource: int, attempt: int) -> int:
    """Give half of a resource more with each attempt: what failed for want of memory or time is retried with more."""
    return resource * (1 + attempt) // 2


def growing(resource: int) -> Callable[[Any, int], int]:
    """Give the function that Snakemake asks for a resource that grows with each attempt."""
    return lambda wildcards, attempt: grown(resource, attempt)


def training_threads(model: Model) -> int:
    """Return the CPU threads that a training uses, in all its processes."""
    return model.processes * (model.settings or {})["training"]["threads"]


def sampling_settings(
    config: Mapping[str, Any], decodings: Iterable[Mapping[str, Any]], model: Model | None = None
) -> dict[str, Any]:
    """Give what samples under some decodings depend on; with a truth from the hub, what that one has of its own."""
    inference = config["inference"]
    chosen = {
        "decodings": list(decodings),
        "batch": config["samples"]["batch"],
        "seed": config["samples"]["seed"],
        "precision": inference["precision"],
        "threads": inference["threads"],
    }
    return settings(**chosen | (model.hub or {} if model else {}))


def sampling_memory(config: Mapping[str, Any], model: Model, attempt: int = 1) -> int:
    """Estimate the memory of sampling in MB: keys and values of a batch, weights, and 2 GB for PyTorch."""
    own = model if model.settings or not model.source else models(config)[model.source]
    shape = (own.settings or {"model": config["model"]})["model"]
    length = config["windows"]["prompt"] + config["windows"]["scored"]
    cached = 8 * shape["layers"] * shape["width"] * length * config["samples"]["batch"]
    return grown(2000 + (2 * cached + 48 * shape["layers"] * shape["width"] ** 2) // 10**6, attempt)


def study(config: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a study to `oversmoothing.needs`; sizes of text and downloads are estimates until they are there."""
    known = models(config)
    corpus = config["corpus"]
    fetched: dict[str, int] = {}
    text = 10_000_000  # of docstrings
    if corpus["source"] == "fineweb":
        text = 0
        for role in ("train", "evaluation"):
            budget = corpus["fineweb"][f"{role}_bytes"]
            shards = {name: SHARD_BYTES.get(name, USUAL_SHARD) for name in corpus["fineweb"][role]}
            fetched |= shards if budget is None else {f"the first bytes of {', '.join(shards)}": budget}
            text += budget or round(TEXT_PER_PARQUET * sum(shards.values()))
    elif corpus["source"] == "files":
        text = text_of_files(config)
    fetched |= {
        f"{source['repository']}@{source['revision']}".removesuffix("@main"): MODELS_ON_THE_HUB.get(
            source["repository"], 0
        )
        for source in assets(config).values()
        if "repository" in source
    }
    return settings(
        models=[{"name": model.name, "kind": model.kind, "settings": model.settings} for model in known.values()],
        retrained=[
            {"settings": known[head.source or head.name].settings, "head": retraining(config, head)}
            for head in retrained(config).values()
        ],
        truths=names(known, "truth"),
        fetched=fetched,
        corpus=text,
        positions=config["windows"]["count"] * config["windows"]["scored"],
        decodings=len(config["decodings"]),
        memory=max(
            8000,
            *(training_memory(model) for model in known.values() if model.settings),
            *(foreign_memory(config) for model in known.values() if model.hub),
        ),
    )


def samplings(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Name, for each model, the decodings whose samples are judged: all, and for truncated heads pure (Table H.1)."""
    decodings = [entry["name"] for entry in (*config["decodings"], *config["samples"]["decodings"])]
    return {model.name: ["pure"] if model.kind == "svd" else decodings for model in models(config).values()}


def foreign_memory(config: Mapping[str, Any]) -> int:
    """Return the memory in MB for a truth from the hub: EvaByte's 6.5 billion numbers, on a CPU in float32."""
    return 20_000 if gpus(config) else 32_000


def gpus(config: Mapping[str, Any]) -> int:
    """Return how many GPUs a job that computes with PyTorch asks for: none where it would not use one."""
    seen = Path("/dev/nvidia0").exists()
    return int(config["device"] == "cuda" or (config["device"] == "auto" and seen))


def table_rows(config: Mapping[str, Any], kind: str, leaving: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Say, for each model of a kind, what a table prints about it.

    Parameters
    ----------
    config : mapping
    kind : {"family", "svd", "truth"}
    leaving : iterable of str
        Differences that the table does not depend on.

    Returns
    -------
    list of dict
        ``model``, ``rank``, ``seed``, ``published_as``, and ``differs``: in what it is unlike the thesis's model
        of that name, of "data" (another corpus), "scale" (another shape, or one that the config does not know),
        "truth" (another truth), "rank", "tau", and for TBAT "delta" and "condition".
    """
    rows = []
    known = models(config)
    for model in known.values():
        if model.kind == kind:
            shape = TRUTH_SHAPES.get(model.published_as or "") if kind == "truth" else FAMILY_SHAPE
            trained = known[model.source or model.name].settings
            own = trained["model"] if trained else {}
            alike = shape is not None and all(own.get(key) == value for key, value in shape.items())
            if model.hub:
                alike = model.published_as == "EvaByte" and model.hub["asset"].startswith(EVABYTE)
            differs = {
                "data": not _is_fineweb(config["corpus"]),
                "scale": kind != "truth" and not alike,
                "truth": kind == "truth" and not alike,
                "rank": kind == "family" and model.rank is not None and str(model.rank) != model.published_as,
                "tau": config["metrics"]["tau"] != TAU,
                "delta": kind == "family" and not math.isclose(config["metrics"]["tbat"]["delta"], DELTA),
                "condition": kind == "family" and config["metrics"]["tbat"]["condition"] != "full",
            }
            rows.append(
                {
                    "model": model.name,
                    "rank": model.rank,
                    "seed": model.seed,
                    "published_as": model.published_as,
                    "differs": [key for key, value in differs.items() if value and key not in leaving],
                }
            )
    return rows


def compared_models(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Say of each model what claims compare it by; of retrained heads Godey et al.'s alone, which have no LayerNorm.

    Returns
    -------
    list of dict
        ``model``, ``kind``, ``rank``; ``role``, the thesis's rank that it stands for (`published_as`; a retrained head
        has its own), None if that is no number; ``training``, the model whose training it comes from.
    """
    return [
        {
            "model": model.name,
            "kind": model.kind,
            "rank": model.rank,
            "role": int(model.published_as) if model.published_as and model.published_as.isdigit() else None,
            "training": model.source or model.name,
        }
        for model in (models(config) | retrained(config)).values()
        if model.kind != "normed"
    ]


def pooled_truths(config: Mapping[str, Any]) -> dict[str, Any]:
    """Say of all truths together, "all truths", what `table_rows` says of each; the thesis has the mean of its two."""
    truths = table_rows(config, "truth")
    published = {truth["published_as"] for truth in truths}
    differs = dict.fromkeys(name for truth in truths for name in truth["differs"])
    if published != {"EvaByte", "NanoGPT 300M"}:
        differs["truth"] = None
    return {"model": "all truths", "rank": None, "seed": None, "published_as": "mean", "differs": list(differs)}


def showcased(config: Mapping[str, Any]) -> dict[str, Model]:
    """List the models whose next bytes are shown: those of the first seed, the user's own, and the truths."""
    first = (None, config["seeds"][0])
    return {name: model for name, model in models(config).items() if model.kind == "truth" or model.seed in first}


def truncations(models: Mapping[str, Model]) -> dict[str, Model]:
    """Keep the truncated heads, the models they were truncated from, and the truths."""
    sources = {model.source for model in models.values()}
    return {name: model for name, model in models.items() if model.kind != "family" or name in sources}


def showcase_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the windows of the showcase depend on; what a prompt is called is not in them."""
    return settings(prompts=[{key: entry[key] for key in ("prompt", "next")} for entry in config["showcase"]])


def described(models: Mapping[str, Model], *kinds: str) -> list[dict[str, Any]]:
    """Say what a figure or a list prints about the models of some kinds, in the order of `names`."""
    return [
        {key: getattr(models[name], key) for key in ("kind", "rank", "seed")} | {"model": name}
        for name in names(models, *kinds)
    ]


def followed(models: Mapping[str, Model]) -> list[Model]:
    """List the members of the family whose training keeps snapshots: neither truths nor the user's checkpoints."""
    return [
        model
        for model in models.values()
        if model.kind == "family" and model.settings and model.settings["training"]["snapshots"]
    ]


def with_histories(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[Model]:
    """List the models trained here whose histories stand in the fit of saturation."""
    trained = [model for model in models.values() if model.settings]
    return trained if config["saturation"]["study"] else []


def fitted(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[str]:
    """Name the models that the law of losses is fitted to: by default those without a bottleneck.

    Those are trained truths, members whose rank is their width, and the user's histories, of which nothing is known.
    """
    if config["saturation"]["fitted"] is not None:
        return list(config["saturation"]["fitted"])
    shapes = {model.name: (model.settings or {})["model"] for model in with_histories(config, models)}
    free = [name for name, shape in shapes.items() if shape["rank"] in (None, shape["width"])]
    return free + [entry["name"] for entry in config["saturation"]["histories"]]


def compared(config: Mapping[str, Any], models: Mapping[str, Model]) -> list[dict[str, Any]]:
    """Say of each model that is held against the law of losses what a table prints; a truth goes by its name."""
    own = [
        {"model": model.name, "rank": model.rank if model.kind == "family" else None, "seed": model.seed}
        for model in with_histories(config, models)
    ]
    others = [entry["name"] for entry in config["saturation"]["histories"]]
    return own + [{"model": name, "rank": None, "seed": None} for name in others]


def saturation_settings(config: Mapping[str, Any], models: Mapping[str, Model]) -> dict[str, Any]:
    """Give what the fit of the law of losses depends on."""
    own = {
        "study": [model.name for model in with_histories(config, models)],
        "fitted": fitted(config, models),
    }
    return settings(**config["saturation"] | own)


def names(models: Mapping[str, Model], *kinds: str) -> list[str]:
    """Name the models of some kinds, kind after kind, each in the config's order."""
    return [model.name for kind in kinds for model in models.values() if model.kind == kind]


def watched(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Say of each model what one needs to follow it: its name and kind, and how and where it is trained.

    Returns
    -------
    list of dict
        ``model``, ``kind``, ``settings`` (None for what is not trained here), ``checkpoints`` (a folder).
    """
    return [
        {
            "model": model.name,
            "kind": model.kind,
            "settings": model.settings,
            "checkpoints": checkpoints(config, model.name)["folder"],
        }
        for model in models(config).values()
    ]


def declared(rules: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Give what rules of tables declare, by the table's name: files by the name of their input, and settings."""
    return {
        Path(rule.output.csv).stem: {
            "input": {
                name: [str(file) for file in files] if isinstance(files, list) else str(files)
                for name, files in rule.input.items()
            },
            "output": list(rule.output.keys()),
            "settings": rule.params["settings"],
        }
        for rule in rules
    }


def one_of(models: Iterable[Model]) -> str:
    """Give a wildcard constraint that fits exactly these models' names, and nothing if there are none."""
    return "|".join(re.escape(model.name) for model in models) or "(?!)"


def settings(**values: Any) -> dict[str, Any]:
    """Give what a rule depends on as one plain dict with sorted keys, which Snakemake can compare between runs."""
    return json.loads(json.dumps(values, sort_keys=True))


def _member(config: Mapping[str, Any], entry: Mapping[str, Any], seed: int) -> Model:
    """Give a member of the family: of a rank, or of a width of its own, with no bottleneck in front of its head."""
    if "rank" in entry:
        name, rank, shape = f"bn{entry['rank']}", entry["rank"], {"rank": entry["rank"]}
        published = str(entry.get("published_as", rank))
    else:
        name, rank, shape = f"w{entry['width']}", entry["width"], {"width": entry["width"], "heads": entry["heads"]}
        published = None
    trained = _training_settings(config, shape, {}, seed)
    return Model(
        f"{name}-s{seed}", "family", rank, seed, trained, config["training"]["processes"], published_as=published
    )


def _full(models: Iterable[Model], seed: int) -> Model | None:
    """Give the member of the family of highest rank that is trained here; None if there is none."""
    trained = [model for model in models if model.kind == "family" and model.settings and model.seed == seed]
    return max(trained, key=lambda model: model.rank or 0, default=None)


def _source(entry: Mapping[str, Any], revision: str) -> tuple[str, dict[str, str]]:
    """Give the asset's name and source of a revision; `main` is the end of training if the config says which step."""
    is_end = entry.get("main_is") == revision
    folder = as_folder(entry["hub"])
    if folder is None:
        otherwise = {"otherwise": "main"} if is_end else {}
        name = asset(entry["hub"], revision) + ("-or-main" if is_end else "")
        return name, settings(repository=entry["hub"], revision=revision, **otherwise)
    own = folder / revision if "revisions" in entry else folder
    if is_end and not own.is_dir():
        main = folder / "main"
        return _file_name(f"folder-{main}-for-{revision}"), settings(
            folder=str(main), revision="main", instead_of=revision
        )
    return _file_name(f"folder-{own}"), settings(folder=str(own))


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.@-]+", "--", text)


def _weights(model: Model) -> int:
    """Count the weights of a model that is trained, all but exactly."""
    shape = (model.settings or {})["model"]
    return 12 * shape["layers"] * shape["width"] ** 2 + (512 + shape["block"]) * shape["width"]


def _files(pattern: str) -> list[str]:
    matches = glob(str(Path(pattern).expanduser()), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    return [path for path in matches if Path(path).is_file()]


def _training_settings(
    config: Mapping[str, Any], shape: Mapping[str, Any], training: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    together = {**config["training"], **training}
    del together["processes"]
    return settings(model={**config["model"], "rank": None, **shape}, training=together, seed=seed)


def _from_hub(truth: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: truth[key] for key in ("batch", "precision") if key in truth}
    bytes_ = (
        {"bos": truth.get("bos", True)}
        if truth["layout"] == "evabyte"
        else {"byte_offset": truth.get("byte_offset", 0), "bos": truth.get("bos")}
    )
    return settings(asset=asset(truth["hub"], truth.get("revision", "main")), layout=truth["layout"], **bytes_, **own)


def _is_fineweb(corpus: Mapping[str, Any]) -> bool:
    """Say whether the text is the thesis's: FineWeb from the hub, or a folder of that name."""
    return corpus["source"] == "fineweb" and Path(corpus["fineweb"]["repository"]).name == "fineweb"


def _published(entry: Mapping[str, Any]) -> str | None:
    return str(entry["published_as"]) if "published_as" in entry else None
