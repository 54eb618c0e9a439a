"""Checks of the config before anything runs; each message is one line that names the key."""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.gpt_shape import vocabulary
from oversmoothing.scores.catalogue.decoders import parameters
from oversmoothing.scores.decoding import check_k, decoding_name, links
from oversmoothing.training.objectives import losses_under
from plan import branches, studies
from plan.arms import OF_FAMILY, asked
from plan.assets import two_wheels
from plan.model_types import Trained, of_type
from plan.models import by_name, trained_here
from plan.settings import ConfigError
from plan.studies import Config
from plan.tokens import known_size, over_bytes, unit
from schemas.config import read_schema

OF_HUB = ("revision", "batch", "precision", "bos")  # keys of a model from the hub
OF_BYTE_VIEW = ("context", "temperature")  # and of one whose distributions of bytes are measured


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Check a string as JSON Schema does, for which `$` is the end and not, as in Python, also before a newline."""
    if validator.is_type(instance, "string") and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


Validator = extend(
    Draft202012Validator,
    {"pattern": _pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int),
)


def check(config: dict[str, Any]) -> None:
    """Check a config against the schema and against itself; a `ConfigError` names the first faulty key.

    Strings become numbers, booleans or null in place where the schema has these and no string, because Snakemake hands
    on all that is inside ``--config 'windows={count: 5}'`` as strings.
    """
    validator = Validator(read_schema())
    _read_strings(config, validator)
    for message in _mistakes(config, validator):
        raise ConfigError(message)


def check_device(config: Mapping[str, Any]) -> None:
    """Check that the device is set if jobs run on other machines, whose GPUs cannot be detected from here."""
    if config["device"] == "auto":
        raise ConfigError(
            "device: auto looks for a GPU on this machine, but the jobs run on others; set cuda or cpu "
            "(slurm/profile.v9+.yaml sets it, unless --config replaces that: --config device=cuda ...)"
        )


def _read_strings(config: dict[str, Any], validator: Any) -> None:
    for error in _all(validator.iter_errors(config)):
        if not isinstance(error.instance, str) or not error.instance.strip() or not error.absolute_path:
            continue
        try:
            value = yaml.safe_load(error.instance)
        except yaml.YAMLError:
            continue
        wanted = {"type": error.schema["type"]} if error.validator == "type" else error.schema
        if isinstance(value, int | float | None) and validator.evolve(schema=wanted).is_valid(value):
            *folders, last = error.absolute_path
            reduce(getitem, folders, config)[last] = value


def _all(errors: Iterable[Any]) -> Iterator[Any]:
    """Yield errors, and those of the alternatives of each."""
    for error in errors:
        yield error
        yield from _all(error.context)


def _mistakes(config: Config, validator: Any) -> Iterator[str]:
    for error in sorted(validator.iter_errors(config), key=lambda error: [str(part) for part in error.path]):
        yield _explain(error)
    for mistakes_of in CHECKS:
        yield from mistakes_of(config)


def _finite(value: Any, where: str = "") -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{where}: {value} is not a finite number"
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _finite(item, f"{where}.{key}".lstrip("."))


def _members(config: Config) -> Iterator[str]:
    """Check the combinations of keys in the entries of `family`."""
    bytes_are_read = over_bytes(config)
    for i, entry in enumerate(config["family"]):
        keys = set(entry)
        from_hub = {"name", "hub"} <= keys <= {"name", "hub", "layout", "capped", *OF_HUB, *OF_BYTE_VIEW}
        published = keys - {"published_as"} in ({"rank"}, {"name", "path"})
        if "output" in entry and not bytes_are_read:
            yield f"family.{i}: heads that are not linear (`output`) are for tokens: bytes; remove the entry"
        if "published_as" in keys and not published:
            yield f"family.{i}: `published_as` goes with `rank`, or with `name` and `path`; remove it: {dict(entry)}"
        elif not published and not from_hub and keys not in [set(arm.keys) for arm in OF_FAMILY]:
            pairs = [*dict.fromkeys(tuple(arm.keys) for arm in OF_FAMILY), ("name", "path"), ("name", "hub")]
            either = ", or ".join(" and ".join(f"`{key}`" for key in pair) for pair in pairs)
            yield f"family.{i}: {dict(entry)} must have either {either}"
        if from_hub and bytes_are_read and "layout" not in keys:
            yield (
                f"family.{i}: {entry['name']}: `hub` goes with `tokens`: {{tokenizer: {entry['hub']}}}; over bytes "
                "write `layout: tokens`, for its distributions of bytes"
            )
        if "rank" in entry and entry.get("context") == 0:
            yield f"family.{i}: context: 0, but a model sees at least the last byte; write 1 or more: {dict(entry)}"
        yield from _byte_view(f"family.{i}", entry, bytes_are_read)


def _family(config: Config) -> Iterator[str]:
    """Check the members together."""
    trained = trained_here(config)
    if trained == config["family"] and all(asked(entry).alone for entry in trained):
        yield "family: arms, such as `head: plain`, are held against other members; add one: {rank: 4}"


def _svd_of(config: Config) -> Iterator[str]:
    of_hub = [entry["name"] for entry in config["family"] if "hub" in entry and not over_bytes(config)]
    if config["svd_of"] not in (None, *of_hub):
        yield (
            f"svd_of: {config['svd_of']} is no member of the family from the hub; there are "
            f"{', '.join(of_hub) or 'none'}; null truncates the head of the highest member that is trained here"
        )


def _trials(config: Config) -> Iterator[str]:
    tried = config["learning_rates"]
    if tried["tried"] and tried["seed"] in config["seeds"]:
        yield f"learning_rates.seed: {tried['seed']} is one of seeds; choose on another"


def _truths(config: Config) -> Iterator[str]:
    """Check the combinations of keys in the entries of `truths`."""
    bytes_are_read = over_bytes(config)
    for i, entry in enumerate(config["truths"]):
        where, hub, layout = f"truths.{i}: {entry['name']}", "hub" in entry, entry.get("layout")
        kinds = [kind for kind in ("model", "path", "hub") if kind in entry]
        if len(kinds) != 1 or ("training" in entry and kinds != ["model"]):
            yield f"{where} must have either `model` (and `training`), or `path`, or `hub`"
            continue
        if not bytes_are_read and {"layout", "byte_offset"} & set(entry):
            yield f"{where}: `layout` and `byte_offset` are for tokens: bytes; leave them out"
        elif bytes_are_read and ("layout" in entry) != hub:
            yield f"{where}: `layout` (evabyte, causal_lm or tokens) goes with `hub`"
        yield from _byte_view(f"truths.{i}", entry, bytes_are_read)
        for key in (*OF_HUB, "byte_offset"):
            if key in entry and not hub:
                yield f"{where}: `{key}` goes with `hub`"
            elif key == "byte_offset" and key in entry and layout != "causal_lm":
                yield f"{where}: `{key}` goes with `layout: causal_lm`; the others' is known"
        given = bytes_are_read and "bos" in entry and hub
        if given and (type(entry["bos"]) is bool) != (layout == "evabyte"):
            yield f"{where}: `bos` is true or false for evabyte, an id, a list of ids or null for other layouts"


def _byte_view(where: str, entry: Mapping[str, Any], bytes_are_read: bool) -> Iterator[str]:
    """Check the keys of an entry that go with byte views alone, or not with them."""
    view = bytes_are_read and entry.get("layout") == "tokens"
    for key in OF_BYTE_VIEW:
        if key in entry and not view and not (key == "context" and "rank" in entry):
            name = f"{entry['name']}: " if "name" in entry else ""
            yield f"{where}: {name}`{key}` goes with `layout: tokens` in a study of `tokens: bytes`"
    if "layout" in entry and not bytes_are_read and where.startswith("family"):
        yield f"{where}: {entry['name']}: `layout` is for tokens: bytes; leave it out"
    if view and "batch" in entry:
        yield f"{where}: {entry['name']}: `batch`: with `layout: tokens` a model reads one window at a time; remove it"
    if view and "capped" in entry:
        yield f"{where}: {entry['name']}: `capped`: of a byte view nothing is measured that a cap decides; remove it"


def _decodings(config: Config) -> Iterator[str]:
    for where, entries in (("decodings", config["decodings"]), ("samples.decodings", config["samples"]["decodings"])):
        for i, entry in enumerate(entries):
            try:
                for link in links(entry):
                    parameters(link)
                    if link["name"] == "top-k":
                        check_k(link, known_size(config))
            except UserError as error:
                yield f"{where}.{i}: {error}"


def _shown(config: Config) -> Iterator[str]:
    if missing := [window for window in config["samples"]["show"] if window >= config["windows"]["count"]]:
        yield f"samples.show: there is no window {missing[0]}; windows.count is {config['windows']['count']}, from 0 on"


def _tangent(config: Config) -> Iterator[str]:
    if config["metrics"]["tbat"]["condition"] == "tangent" and config["model"]["bottleneck_norm"] == "before":
        yield (
            "metrics.tbat.condition: tangent asks for model.bottleneck_norm: after; with before, a Linear is "
            "between LayerNorm and head, and full is the right condition"
        )


def _objectives(config: Config) -> Iterator[str]:
    objectives = [entry["objective"] for entry in config["family"] if "objective" in entry]
    for given in objectives:
        if given != next(other for other in objectives if other["name"] == given["name"]):
            yield f"family: {given['name']} stands there with two values; tables take them for one, so keep one"
    trained = {f"family.{i}": entry for i, entry in enumerate(config["family"])}
    trained |= {f"truths.{i}.training": entry.get("training", {}) for i, entry in enumerate(config["truths"])}
    for where, training in {"training": config["training"], **trained}.items():
        try:
            if "objective" in training:
                losses_under(training["objective"])
        except UserError as error:
            yield f"{where}.{error}"


def _names_of_decodings(config: Config) -> Iterator[str]:
    names = [decoding_name(entry) for entry in (*config["decodings"], *config["samples"]["decodings"])]
    for name in names:
        if names.count(name) > 1:
            yield f"decodings: {name} is listed twice; scores and samples go by that name"
    if "pure" not in names:
        yield "decodings: `{name: pure}` is missing; Tables 4.1 and 4.2 are made of it"


def _shapes(config: Config) -> Iterator[str]:
    """Check the shape of each model, and that a window fits into its block."""
    window = config["windows"]["prompt"] + config["windows"]["scored"]
    for model in of_type(Trained, by_name(config)):
        shape = model.shape
        training = model.settings["training"]
        if all(training[key] % model.processes for key in ("accumulation", "batch")):
            yield (
                f"training.processes: {model.processes} of {model.name} divides neither training.accumulation, "
                f"{training['accumulation']}, nor training.batch, {training['batch']}"
            )
        most = min(shape["width"], vocabulary(shape))
        if training["backward_rank"] is not None and training["backward_rank"] > most:
            yield f"{model.name}: backward_rank is above {most}, the rank of its head; lower it"
        try:
            GPTConfig.from_dict({**shape, "vocabulary": vocabulary(shape)})
        except UserError as error:
            yield f"{model.name}: {str(error).removeprefix('model: ')}"
        if window > shape["block"]:
            yield (
                f"windows: prompt + scored is {window} {unit(config)}s, longer than the block of {model.name}, "
                f"{shape['block']}; shorten the windows or raise model.block"
            )


def _corpus(config: Config) -> Iterator[str]:
    """Check the shares of the splits; of FineWeb that no shard is in two, and that only its own options are set."""
    corpus = config["corpus"]
    if abs(sum(corpus["splits"].values()) - 1) > 1e-9:
        yield "corpus.splits: the shares of train, validation and evaluation must add up to 1"
    learns = [model.name for model in of_type(Trained, by_name(config))]
    learns += ["tokens"] * (not over_bytes(config) and "vocabulary" in config["tokens"])
    for split in ("train", "validation"):
        if learns and not corpus["splits"][split]:
            yield f"corpus.splits.{split}: 0, but {learns[0]} learns from this split; give it a share"
    if corpus["source"] == "files" and not corpus["paths"]:
        yield "corpus.paths: source: files needs at least one path or glob"
    if corpus["source"] != "fineweb":
        return
    if shared := set(corpus["fineweb"]["train"]) & set(corpus["fineweb"]["evaluation"]):
        yield f"corpus.fineweb.evaluation: {min(shared)} is in train too; name another shard"
    if corpus["cut"] is not None:
        yield "corpus.cut: write null for source: fineweb; its documents are the rows of its shards"
    if corpus["overlap_words"] is not None:
        yield "corpus.overlap_words: write null for source: fineweb; it drops repeated documents, but compares no words"


def _branches(config: Config) -> Iterator[str]:
    yield from branches.mistakes(by_name(config).values())


def _checkpoints(config: Config) -> Iterator[str]:
    folder = config["checkpoints"]["folder"]
    if folder and Path(folder) in (Path(config["results"]), Path(config["results"]) / "models"):
        yield f"checkpoints.folder: {folder} holds results; name a folder of its own, or null"


# In the order in which mistakes are told; each relies on those before it.
CHECKS: tuple[Callable[[Config], Iterable[str]], ...] = (
    *(_finite, _members, _family, _svd_of, _trials, _truths, _decodings, _shown, _tangent, _objectives),
    *(_names_of_decodings, _shapes, studies.mistakes, _branches, _corpus, _checkpoints, two_wheels),
)


def _explain(error: Any) -> str:
    """Describe a schema violation in one line that names the key."""
    where = ".".join(str(part) for part in error.absolute_path) or "top level"
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))
        unknown = next(str(key) for key in error.instance if key not in known)
        near = difflib.get_close_matches(unknown, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
        return f"{where}: unknown key {unknown!r}; {hint}"
    if error.validator == "type" and isinstance(error.instance, str) and error.validator_value == "array":
        return f"{where}: {error.instance!r} is text, not a list: write [{error.instance}]"
    if error.validator == "type" and isinstance(error.instance, str) and "number" in str(error.validator_value):
        return f"{where}: {error.instance!r} is text, not a number (YAML reads 1e-3 as text: write 0.001)"
    return f"{where}: {error.message}"
