"""The number of tokens of the text that a model is trained on."""

from collections.abc import Mapping
from typing import Any

from oversmoothing.jobs import UserError


def with_vocabulary(model: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the shape of a model with the number of tokens that the manifest of a text states.

    A manifest of bytes states none, and the shape stays as it is. A `UserError` is raised if the shape has another.
    """
    known = manifest.get("vocabulary")
    if known is None:
        return dict(model)
    if model.get("vocabulary", known) not in (known, None):
        raise UserError(f"model: vocabulary {model['vocabulary']}, but the text is written in {known} tokens")
    return {**model, "vocabulary": known}
