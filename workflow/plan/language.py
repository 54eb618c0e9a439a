"""For the chapter `language.smk`: what the spectrum of a text depends on."""

from collections.abc import Mapping
from typing import Any

from plan.settings import settings


def spectrum_settings(config: Mapping[str, Any], files: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the spectrum of a split of the corpus depends on, or of files that `language.corpora` names."""
    language = config["language"]
    chosen = {key: language[key] for key in ("contexts", "singular_values", "bytes", "seen", "seed")}
    if files is None:
        return settings(**chosen)
    own = {"paths": files["paths"], "column": files.get("column", "text"), "separator": config["corpus"]["separator"]}
    return settings(**chosen, **own)
