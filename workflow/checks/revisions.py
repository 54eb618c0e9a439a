"""Weights of the revisions that are about to be fetched, before any of them is."""

from collections.abc import Mapping, Set
from typing import Any

import plan
from plan.settings import ConfigError


def check_fetched(config: Mapping[str, Any], assets: Set[str]) -> None:
    """Compare the revisions of each repository of which a revision is about to be fetched.

    Raises
    ------
    ConfigError
        If revisions of different training steps hold the same weights.
    """
    if not assets:
        return
    from oversmoothing.hub.revisions import check_revisions  # asks the hub, which most runs have no need of
    from oversmoothing.jobs import UserError

    for name, own in plan.assets.by_repository(config).items():
        if len(own) > 1 and not assets.isdisjoint(own):
            steps = {source["revision"]: source["step"] for source in own.values()}
            otherwise = {source["revision"]: source["otherwise"] for source in own.values() if "otherwise" in source}
            try:
                check_revisions(name, steps, otherwise)
            except UserError as error:
                raise ConfigError(str(error)) from error
