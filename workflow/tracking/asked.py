"""The files that a job reads and writes: their names, and the settings that they should have been made with.

Snakemake compares settings with its own records. Results whose records were lost, or not copied with them, would pass
as up to date, and so would one result copied in place of another; but each file states its name and the settings that
it and its sources were made with, and its readers check them (`oversmoothing.store.identity`).
"""

import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import PurePath
from typing import Any

from snakemake.iocontainers import Wildcards

from oversmoothing.store.identity import MANIFEST

RECORDED = (".parquet", ".safetensors", "")  # of files that state what they were made from, and of folders of them


def asked_of_files(rules: Iterable[Any], results: str) -> Callable[[Any, Any, Any], dict[str, dict[str, Any]]]:
    """Parameter `asked` of all rules: what a job's inputs and outputs should be.

    It holds ``outputs``, their names in the results folder by path, and ``inputs``, by path, with all that these were
    made from, directly or not: ``file`` (the name), ``rule`` (the name of the rule that makes it), ``settings`` (if
    that rule has such a parameter) and ``recorded`` (whether the outputs are to state it as one of their sources).
    A rule's parameter ``identity`` takes the place of its settings. A job that writes a manifest also gets its own
    ``settings``, which the manifest states. Because it is a function of the inputs, Snakemake does not compare it.
    """
    makers = [rule for rule in rules if rule.script]

    @cache
    def maker(path: str) -> Any:
        return next((rule for rule in makers if rule.is_producer(path)), None)

    @cache
    def sources(path: str) -> dict[str, dict[str, Any]]:
        rule = maker(path)
        if rule is None or not PurePath(path).is_relative_to(results):
            return {}
        wildcards = Wildcards(fromdict=rule.get_wildcards(path))
        entry = {"file": _name(path, results), "rule": rule.name, "recorded": _recorded(path)}
        settings = _settings(rule, wildcards)
        if settings is not None:
            entry["settings"] = _without_unknown_vocabulary(settings)
        # Inputs of a rule with an identity are the user's, and may be thousands.
        before = rule.expand_input(wildcards)[0] if entry["recorded"] and "identity" not in _names(rule) else []
        return {os.path.normpath(path): entry} | of_all(filter(_recorded, before))

    def of_all(paths: Iterable[Any]) -> dict[str, dict[str, Any]]:
        return {place: entry for path in paths for place, entry in sources(str(path)).items()}

    def asked(wildcards: Any, input: Any, output: Any) -> dict[str, dict[str, Any]]:
        written = [str(path) for path in output if PurePath(path).is_relative_to(results)]
        outputs = {os.path.normpath(path): _name(path, results) for path in written}
        manifest = next(filter(_is_manifest, written), None)
        own = sources(manifest)[os.path.normpath(manifest)] if manifest else {}
        return {"inputs": of_all(input), "outputs": outputs, **{key: own[key] for key in own.keys() & {"settings"}}}

    return asked


def _recorded(path: Any) -> bool:
    return PurePath(path).suffix in RECORDED or _is_manifest(path)


def _is_manifest(path: Any) -> bool:
    return PurePath(path).name == MANIFEST


def _settings(rule: Any, wildcards: Any) -> dict[str, Any] | None:
    """Return what a file of a rule should state as its settings."""
    name = next((name for name in ("identity", "settings") if name in _names(rule)), None)
    settings = getattr(rule.params, name) if name else None
    return settings(wildcards) if callable(settings) else settings


def _names(rule: Any) -> Iterable[str]:
    return rule.params.keys()


def _without_unknown_vocabulary(settings: dict[str, Any]) -> dict[str, Any]:
    """Leave out a model's vocabulary where the config does not know it: the tokenizer tells it later."""
    model = settings.get("model")
    if not isinstance(model, dict) or model.get("vocabulary", 0) is not None:
        return settings
    return {**settings, "model": {key: value for key, value in model.items() if key != "vocabulary"}}


def _name(path: str, results: str) -> str:
    return PurePath(path).relative_to(results).as_posix()
