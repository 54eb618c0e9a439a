"""Packages in other versions than the lock's, which the fingerprints of all rules state; wrong revisions of models."""

from collections.abc import Mapping, Set
from typing import Any

import plan
from oversmoothing.fingerprint import unlike_lock
from plan.settings import ConfigError


def other_versions() -> list[str]:
    """Return the message about packages that results depend on and whose installed version is not the lock's."""
    unlike = [f"{name} {there} is installed and {locked} locked" for name, (there, locked) in unlike_lock().items()]
    change = "results may differ, and Snakemake does not notice the change"
    message = f"{', '.join(unlike)}: {change}; run `make env` or `pip install -r envs/lock.txt`"
    return [message] if unlike else []


def check_fetched(config: Mapping[str, Any], assets: Set[str]) -> None:
    """Refuse revisions of different steps with the same weights, in repositories about to be fetched from."""
    if not assets:
        return
    from oversmoothing.hub.revisions import check_revisions  # asks the hub, which most runs have no need of
    from oversmoothing.jobs import UserError

    for name, revisions in plan.assets.by_repository(config).items():
        if len(revisions) > 1 and not assets.isdisjoint(revisions):
            steps = {one["revision"]: one["step"] for one in revisions.values()}
            otherwise = {one["revision"]: one["otherwise"] for one in revisions.values() if "otherwise" in one}
            try:
                check_revisions(name, steps, otherwise)
            except UserError as error:
                raise ConfigError(str(error)) from error
