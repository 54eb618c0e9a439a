"""Assets that `snakemake assets` fetches: models of the hub, their tokenizers, and what studies read of it."""

from collections.abc import Mapping
from typing import Any

from plan import studies
from plan.hub import as_folder, asset_name, step
from plan.settings import settings
from plan.tokens import tokenizer


def by_name(config: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Sources of the assets, by name: ``repository`` and ``revision``, or the user's ``folder``.

    ``otherwise`` is the revision to fetch if the hub lacks ``revision``; ``instead_of`` is the missing folder in whose
    place ``folder`` is read.
    """
    wanted = [(truth["hub"], truth.get("revision", "main")) for truth in config["truths"] if "hub" in truth]
    wanted += [(member["hub"], member.get("revision", "main")) for member in config["family"] if "hub" in member]
    found = {asset_name(*own): hub_source(*own) for own in wanted}
    if (own := tokenizer(config)) and (name := asset_name(*own)) not in found:
        found[name] = settings(**hub_source(*own), part="tokenizer")
    return found | {name: source for name, (source, _) in studies.assets(config).items()}


def by_repository(config: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Sources of the assets of each repository on the hub, by name, each with its training ``step`` or None."""
    steps = {name: at for name, (_, at) in studies.assets(config).items()}
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, source in by_name(config).items():
        if "repository" in source:
            own = {**source, "step": steps.get(name, step(source["revision"]))}
            found.setdefault(source["repository"], {})[name] = own
    return found


def hub_source(source: str, revision: str) -> dict[str, str]:
    """Return what to fetch: a ``repository`` on the hub at a ``revision``, or the user's ``folder``."""
    folder = as_folder(source)
    return settings(folder=str(folder)) if folder else settings(repository=source, revision=revision)
