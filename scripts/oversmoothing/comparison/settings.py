"""What a comparison of two models is asked: the models, the text, its passages and what is computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oversmoothing.data.tokens.vocabulary import AUTO, Before
from oversmoothing.hub.names import short_name

TOKENS_EACH, BYTES_EACH = 64, 256  # of a prompt, and of what is scored after it
LARGE, FEW = 10_000, 16  # tokens from which on TBAT is computed in so many passages, unless a number is given
PAGE_MARK = '<meta name="generator" content="oversmoothing compare-models">'  # in the page that is written
SEED = 1337  # of the passages that are drawn, as in the workflow's config


@dataclass(frozen=True)
class Settings:
    """A comparison; `comparison.compare.compare` says what each field is."""

    model: str
    truth: str
    text: str | Path
    windows: int = 100
    prompt: int | None = None
    scored: int | None = None
    over_bytes: bool = False
    column: str = "text"
    split_on: str | None = None
    bos: Before | str = AUTO
    device: str = "auto"
    precision: str = "float32"
    tbat: int | None = None
    forced: int = 1
    temperature: float = 0.8
    top_p: float = 0.9
    cores: int = 2
    assets: str | Path = "assets"

    @property
    def names(self) -> tuple[str, str]:
        """Names of model and truth in tables: the last part of what the user wrote, which must differ."""
        model, truth = (_as_name(short_name(path)) for path in (self.model, self.truth))
        return (model, truth) if model != truth else (f"{model}-model", f"{truth}-truth")

    @property
    def decodings(self) -> list[dict[str, Any]]:
        """The decodings whose acceptance is measured, as entries of a config."""
        return [
            {"name": "pure"},
            {"name": "greedy"},
            {"name": "top-k", "k": 5},
            {"name": "top-p", "p": self.top_p},
            {"name": "temperature", "temperature": self.temperature},
        ]

    def lengths(self, over_bytes: bool) -> tuple[int, int]:
        """Return the length of a prompt and of what is scored after it, in tokens or in bytes."""
        usual = BYTES_EACH if over_bytes else TOKENS_EACH
        return usual if self.prompt is None else self.prompt, usual if self.scored is None else self.scored

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Settings":
        """Return the settings among the options of a command."""
        return cls(**{name: value for name, value in options.items() if name in cls.__dataclass_fields__})


def described(decoding: Mapping[str, Any]) -> str:
    """Return a decoding in few characters: "top-p 0.9", "T = 0.8"."""
    name, *values = decoding.values()
    return f"T = {values[0]:g}" if name == "temperature" else " ".join([name, *(f"{value:g}" for value in values)])


def _as_name(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in text)
