"""For the chapter `progress.smk`: the models whose progress is shown."""

from collections.abc import Mapping
from typing import Any

from plan.models import by_name, checkpoints


def rows(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the progress table.

    Returns
    -------
    list of dict
        ``model``, ``kind``, ``settings`` (None for a model that is not trained here), ``checkpoints`` (a folder).
    """
    return [
        {
            "model": model.name,
            "kind": model.kind,
            "settings": model.settings,
            "checkpoints": checkpoints(config, model.name)["folder"],
        }
        for model in by_name(config).values()
    ]
