"""For the chapter `tokens.smk`: what models read, bytes or the tokens of a tokenizer."""

from collections.abc import Mapping
from typing import Any

from oversmoothing.hub.names import Named, asset_name

LEARNED_FROM = 10_000_000  # bytes of the training split, from its beginning; learning takes a hundred times the memory


def over_bytes(config: Mapping[str, Any]) -> bool:
    """Return whether models read bytes."""
    return config["tokens"] == "bytes"


def learned(config: Mapping[str, Any]) -> bool:
    """Return whether the tokens are learned from the training split."""
    return not over_bytes(config) and "vocabulary" in config["tokens"]


def tokenizer(config: Mapping[str, Any]) -> tuple[Named, str] | None:
    """Return whose tokenizer it is, a model as the config names it, and its revision; None where there is none."""
    if over_bytes(config) or learned(config):
        return None
    return config["tokens"]["tokenizer"], config["tokens"].get("revision", "main")


def asset(config: Mapping[str, Any]) -> str | None:
    """Return the name of the asset that holds the tokenizer."""
    source = tokenizer(config)
    return asset_name(*source) if source else None


def unit(config: Mapping[str, Any]) -> str:
    """Return what models read and predict: "byte" or "token"."""
    return "byte" if over_bytes(config) else "token"


def files(config: Mapping[str, Any], results: str) -> dict[str, str | list[str]]:
    """Return files of the tokenizer and of its tokens: none for bytes, which need no tokenizer."""
    names = {"tokenizer": "tokenizer.json", "vocabulary": "vocabulary.parquet"}
    return {key: [] if over_bytes(config) else f"{results}/tokens/{name}" for key, name in names.items()}


def read_by_models(config: Mapping[str, Any], results: str) -> dict[str, str]:
    """Return files of the training and the validation split as models read them, and their manifest."""
    folder = f"{results}/{'corpus' if over_bytes(config) else 'tokens'}"
    return {split: f"{folder}/{split}.bin" for split in ("train", "validation")} | {
        "manifest": f"{folder}/manifest.json"
    }


def known_size(config: Mapping[str, Any]) -> int | None:
    """Return the number of bytes or tokens; None where a tokenizer tells it later."""
    return 256 if over_bytes(config) else config["tokens"].get("vocabulary")


def states(config: Mapping[str, Any]) -> str | None:
    """Return the precision of the states from which logits over tokens are rebuilt.

    None for bytes, whose logits are stored.
    """
    return None if over_bytes(config) else config["inference"]["states"]


def inference(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section `inference` of the config, as jobs read it."""
    return {**config["inference"], "states": states(config)}


def vocabulary(config: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the number of tokens in a model's shape: none for bytes, None where the tokenizer tells it later."""
    return {} if over_bytes(config) else {"vocabulary": known_size(config)}
