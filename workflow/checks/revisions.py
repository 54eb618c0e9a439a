"""Weights of the revisions that are about to be fetched, before any of them is."""

from collections.abc import Mapping, Set
from typing import Any

import plan
from plan.settings import ConfigError


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
