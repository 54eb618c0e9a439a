"""For the chapter `language.smk`: settings of the spectrum of a text."""

from collections.abc import Mapping
from typing import Any

from plan.settings import settings


def spectrum_settings(config: Mapping[str, Any], files: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Settings on which the spectrum of a corpus split, or of files in `language.corpora`, depends."""
    language = config["language"]
    chosen = {key: language[key] for key in ("contexts", "singular_values", "bytes", "seen", "seed")}
    if files is None:
        return settings(**chosen)
    own = {"paths": files["paths"], "column": files.get("column", "text"), "separator": config["corpus"]["separator"]}
    return settings(**chosen, **own)
