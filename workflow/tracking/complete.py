"""Directives that every rule with a script gets, so that no chapter repeats them and no rule lacks them.

Snakemake has no directive for a parameter or an environment of all rules, so they are set on `Rule` objects, as its own
parser does, after all chapters have been read.
"""

import os
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from snakemake.iocontainers import Wildcards

from oversmoothing.fingerprint import relative
from oversmoothing.store.identity import MANIFEST
from tracking.planned import fingerprint, text

ENVIRONMENT = Path(__file__).resolve().parents[2] / "envs/environment.yaml"
JSON = ".json"
RECORDED = (".parquet", ".safetensors", "")  # of files that state what they were made from, and of folders of them


def complete(workflow: Any, results: str, assets: str) -> None:
    """Add to each rule with a script the directives that it does not state itself.

    These are the parameter ``code``, the fingerprint of its script and everything that it imports; the parameter
    ``asked`` (see `asked_of_files`); the conda environment; and a log, named after the rule and its wildcards. Rules
    that make tables and figures run on the machine where Snakemake runs.
    """
    rules = list(workflow.rules)
    asked = asked_of_files(rules, results, assets)
    for rule in rules:
        if not rule.script:
            continue
        if rule.params.get("code") is None:
            rule.set_params(code=fingerprint(relative(_folder(rule).joinpath(rule.script).resolve())))
        rule.set_params(asked=asked)
        rule.conda_env = os.path.relpath(ENVIRONMENT, _folder(rule))
        if not rule.log:
            rule.log_modifier = workflow.modifier.path_modifier
            rule.set_log(f"{results}/logs/{_log_name(rule)}.log")
        if rule.output and Path(rule.output[0]).parent in (Path(results, "tables"), Path(results, "figures")):
            workflow.localrules(rule.name)


def asked_of_files(
    rules: Iterable[Any], results: str, assets: str
) -> Callable[[Any, Any, Any], dict[str, dict[str, Any]]]:
    """Return the parameter `asked` of all rules: what a job's inputs and outputs should be.

    Snakemake compares settings with its own records. Results whose records were lost, or not copied with them, would
    pass as up to date, and so would one result copied in place of another; but each file states its name and the
    settings that it and its sources were made with, and its readers check them (`oversmoothing.store.identity`).

    It holds ``outputs``, their names in the results folder by path, and ``inputs``, by path, with all that these were
    made from, directly or not: ``file`` (the name), ``rule`` (the name of the rule that makes it), ``settings`` (if
    that rule has such a parameter) and ``recorded`` (whether the outputs are to state it as one of their sources).
    Of manifests of models, in the folder of assets, the settings say of which source they are. What a rule's parameter
    ``files`` (or ``file``) lists is an input without a path, whose settings are a digest of the files' contents.
    A rule's parameter ``identity`` takes the place of its settings. A job that writes JSON also gets its own
    ``settings``, which the file states. Because it is a function of the inputs, Snakemake does not compare it.
    """
    makers = [rule for rule in rules if rule.script]

    @cache
    def maker(path: str) -> Any:
        return next((rule for rule in makers if rule.is_producer(path)), None)

    @cache
    def sources(path: str) -> dict[str, dict[str, Any]]:
        rule = maker(path)
        home = next((folder for folder in (results, assets) if PurePath(path).is_relative_to(folder)), None)
        if rule is None or home is None:
            return {}
        wildcards = Wildcards(fromdict=rule.get_wildcards(path))
        entry = {"file": _name(path, home), "rule": rule.name, "recorded": recorded(path)}
        settings = _settings(rule, wildcards)
        if settings is not None:
            entry["settings"] = _without_unknown_vocabulary(settings)
        # Inputs of a rule with an identity are the user's, and may be thousands.
        before = rule.expand_input(wildcards)[0] if entry["recorded"] and rule.params.get("identity") is None else []
        own_files = of_user(rule, wildcards) if home == results else {}  # the manifest of an asset lists its files
        return {os.path.normpath(path): entry} | of_all(filter(recorded, before)) | own_files

    def recorded(path: Any) -> bool:
        return PurePath(path).suffix in RECORDED or _is_manifest(path) or PurePath(path).parent == PurePath(assets)

    def of_all(paths: Iterable[Any]) -> dict[str, dict[str, Any]]:
        return {place: entry for path in paths for place, entry in sources(str(path)).items()}

    def of_user(rule: Any, wildcards: Any) -> dict[str, dict[str, Any]]:
        files = None if rule is None else rule.params.get("files", rule.params.get("file"))
        if files is None or rule.params.get("identity") is not None:
            return {}
        name = " ".join(["files of", rule.name, *map(str, wildcards)])
        digest = text(lambda: files(wildcards), name)
        entry = {"file": name, "rule": rule.name, "recorded": True}
        return {name: {**entry, "settings": {"digest": digest[name]}}} if digest else {}

    def asked(wildcards: Any, input: Any, output: Any) -> dict[str, dict[str, Any]]:
        written = [str(path) for path in output if PurePath(path).is_relative_to(results)]
        outputs = {os.path.normpath(path): _name(path, results) for path in written}
        stating = next((path for path in written if PurePath(path).suffix == JSON), None)
        own = sources(stating)[os.path.normpath(stating)] if stating else {}
        inputs = of_all(input) | (of_user(maker(written[0]), wildcards) if written else {})
        return {"inputs": inputs, "outputs": outputs, **{key: own[key] for key in own.keys() & {"settings"}}}

    return asked


def _is_manifest(path: Any) -> bool:
    return PurePath(path).name == MANIFEST


def _settings(rule: Any, wildcards: Any) -> dict[str, Any] | None:
    """Return what a file of a rule should state as its settings."""
    settings = rule.params.get("identity", rule.params.get("settings"))
    return settings(wildcards) if callable(settings) else settings


def _without_unknown_vocabulary(settings: dict[str, Any]) -> dict[str, Any]:
    """Leave out a model's vocabulary where the config does not know it: the tokenizer tells it later."""
    model = settings.get("model")
    if not isinstance(model, dict) or model.get("vocabulary", 0) is not None:
        return settings
    return {**settings, "model": {key: value for key, value in model.items() if key != "vocabulary"}}


def _name(path: str, results: str) -> str:
    return PurePath(path).relative_to(results).as_posix()


def _folder(rule: Any) -> Path:
    """Return the folder of the file that a rule stands in, to which Snakemake takes its paths as relative."""
    return Path(rule.basedir.get_path_or_uri(secret_free=True)).resolve()


def _log_name(rule: Any) -> str:
    """Return the path of a rule's log; that of another text than the main one is in the folder of the text."""
    wildcards = re.findall(r"{(\w+)", rule.output[0]) if rule.output else []
    text = "{text}" if "text" in wildcards else ""
    named = "-".join(f"{{{name}}}" for name in wildcards if name != "text")
    return "/".join(filter(None, [f"{text}{rule.name}", named]))
