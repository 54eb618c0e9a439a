"""For the chapter `progress.smk`: the models whose progress is shown."""

from collections.abc import Mapping
from typing import Any

from plan.models import by_name, checkpoints, learning_rate_file, trials


def followed_models(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the progress table.

    Returns
    -------
    list of dict
        ``model``, ``kind``, ``settings`` (None for a model that is not trained here), ``learning_rate`` (the file that
        says it, or None), ``checkpoints`` (a folder).
    """
    return [
        {
            "model": model.name,
            "kind": model.kind,
            "settings": model.settings,
            "learning_rate": learning_rate_file(config, model),
            "checkpoints": checkpoints(config, model.name)["folder"],
        }
        for model in (trials(config) | by_name(config)).values()
    ]
