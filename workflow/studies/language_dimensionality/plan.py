"""Settings of the spectrum of a text, and mistakes in the section `language`."""

from collections.abc import Iterator, Mapping
from typing import Any

from plan.models import family_ranks
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table

SPLITS = ("train", "evaluation")  # of the corpus, which are read beside the user's files


def corpora(config: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the entries of `language.corpora`, by name."""
    return {corpus["name"]: corpus for corpus in config["language"]["corpora"]}


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
    names = [*SPLITS, *(corpus["name"] for corpus in config["language"]["corpora"])]
    for name in names:
        if names.count(name) > 1:
            yield f"language.corpora: {name} is listed twice, or is a split of the corpus; give it another name"


def texts(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return globs of the user's further texts, by key."""
    return {f"language.corpora.{i}.paths": corpus["paths"] for i, corpus in enumerate(config["language"]["corpora"])}


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure."""
    read = [*SPLITS, *corpora(run.config)]
    files = {kind: [f"{run.results}/language/{kind}/{name}.parquet" for name in read] for kind in ("sizes", "spectra")}
    yield Table(
        "language_dimensionality_table",
        "table.py",
        files,
        settings(texts=read, ranks=family_ranks(run.config)),
        table=Shown("language_dimensionality", "8 Small models", "Beyond the thesis: dimensions of the language"),
        figure=Shown("language_spectrum", "8 Small models", "Beyond the thesis: W-error against dimensions"),
    )


STUDY = Study(mistakes, texts=texts, tables=tables)
