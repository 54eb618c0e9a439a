"""Texts that models read: the windows of the corpus, and those that studies add."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plan.model_types import Model


@dataclass(frozen=True)
class Text:
    """Windows that models are run over; what is measured there is in a folder of the results.

    Rules that measure any text have the wildcard ``{text}``, which is this folder, and look up here what differs.
    """

    folder: str  # "" for the windows of the corpus; of others it ends in a slash
    windows: str
    weights: str  # of its models, with the wildcard {model}
    truths: Mapping[str, str] = field(default_factory=dict)  # files of their logits, by name
    against_themselves: bool = False  # whether truths are also held against themselves
    # Models that learn it, by name. Where there are none, those of the run read it.
    models: Mapping[str, Model] = field(default_factory=dict)
    splits: Mapping[str, str] = field(default_factory=dict)  # to learn from: ``train``, ``validation``, ``manifest``
    decodings: tuple[Mapping[str, Any], ...] | None = None  # under which it is scored; None for those of the config
    few: bool = False  # prompts: they differ in length, have nothing before them, and are scored without a GPU

    @property
    def inference(self) -> dict[str, Any]:
        """Settings of running a model over it that are not those of the config."""
        return {"batch": 1} if self.few else {}

    @property
    def name(self) -> str:
        """Its name, without the folders around it."""
        return self.folder.rstrip("/").rpartition("/")[2]
