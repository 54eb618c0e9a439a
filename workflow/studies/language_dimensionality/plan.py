"""Settings of the spectrum of a text, and mistakes in the section `language`."""

from collections.abc import Iterator, Mapping
from typing import Any

from plan.settings import settings
from plan.studies import Study


def spectrum_settings(config: Mapping[str, Any], files: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return settings on which the spectrum of a corpus split, or of files in `language.corpora`, depends."""
    language = config["language"]
    chosen = {key: language[key] for key in ("contexts", "singular_values", "bytes", "seed")}
    if files is None:
        return settings(**chosen)
    text = {"paths": files["paths"], "column": files.get("column", "text"), "separator": config["corpus"]["separator"]}
    return settings(**chosen, **text)


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Check that the names of texts are unique."""
    names = ["train", "evaluation", *(corpus["name"] for corpus in config["language"]["corpora"])]
    for name in names:
        if names.count(name) > 1:
            yield f"language.corpora: {name} is listed twice, or is a split of the corpus; give it another name"


def texts(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return globs of the user's further texts, by key."""
    return {f"language.corpora.{i}.paths": corpus["paths"] for i, corpus in enumerate(config["language"]["corpora"])}


STUDY = Study(mistakes, texts=texts)
