"""Directives that every rule with a script gets, so that no chapter repeats them and no rule lacks them.

Snakemake has no directive for a parameter or an environment of all rules, so they are set on `Rule` objects, as its own
parser does, after all chapters have been read.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oversmoothing.fingerprint import relative
from tracking.asked import asked_of_files
from tracking.planned import fingerprint


def complete(workflow: Any, environment: Path, results: str, logs: str, local: Sequence[str]) -> None:
    """Add to each rule with a script the directives that it does not state itself.

    These are the parameter ``code``, the fingerprint of its script and everything that it imports; the parameter
    ``asked`` (see `asked_of_files`); the conda environment; and a log, named after the rule and its wildcards. Rules
    whose outputs are in one of the `local` folders run on the machine where Snakemake runs.
    """
    rules = list(workflow.rules)
    asked = asked_of_files(rules, results)
    for rule in rules:
        if not rule.script:
            continue
        if "code" not in rule.params.keys():  # noqa: SIM118 (it iterates over values)
            rule.set_params(code=fingerprint(relative(_folder(rule).joinpath(rule.script).resolve())))
        rule.set_params(asked=asked)
        rule.conda_env = os.path.relpath(environment.resolve(), _folder(rule))
        if not rule.log:
            rule.log_modifier = workflow.modifier.path_modifier
            rule.set_log(f"{logs}/{_log_name(rule)}.log")
        if rule.output and Path(rule.output[0]).parent in map(Path, local):
            workflow.localrules(rule.name)


def _folder(rule: Any) -> Path:
    """Return the folder of the file that a rule stands in, to which Snakemake takes its paths as relative."""
    return Path(rule.basedir.get_path_or_uri(secret_free=True)).resolve()


def _log_name(rule: Any) -> str:
    wildcards = re.findall(r"{(\w+)", rule.output[0]) if rule.output else []
    return "/".join([rule.name, *(["-".join(f"{{{name}}}" for name in wildcards)] if wildcards else [])])
