"""The trainings whose snapshots are measured, the revisions of other people's models, and mistakes in `others`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from oversmoothing.hub.names import as_folder, as_gguf, asset_name, file_name, folder_name
from plan.assets import hub_source, step, weight_bytes
from plan.model_types import Model, Trained
from plan.resources import scaled
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table


def followed(models: Iterable[Model]) -> list[Trained]:
    """Return members of the family whose training keeps snapshots; truths and the user's checkpoints have none.

    Nor is a model followed whose output layer is not linear: these measures read a head as a matrix.
    """
    return [
        model
        for model in models
        if isinstance(model, Trained)
        and model.kind == "family"
        and model.linear
        and model.settings["training"]["snapshots"]
    ]


@dataclass(frozen=True)
class Revision:
    """One revision of an external model; it and the model are named as in the config."""

    model: str
    revision: str
    step: int | None  # None if the revision's name has none
    asset: str  # name of the manifest
    source: dict[str, str]  # what to fetch, or the user's folder (see `assets.by_name`)
    settings: dict[str, Any]  # on which its measurement depends


def revisions(config: Mapping[str, Any]) -> dict[str, Revision]:
    """Return revisions of other people's models, by the path of their results: ``pythia-70m/step0``."""
    return dict(_revisions(config))


def memory(revision: Revision, manifest: str, attempt: int = 1) -> int:
    """Return the estimated memory of a measurement in MB: float32 weights, logits of a batch, and 3 GB for PyTorch.

    Weights on the hub mostly take two bytes each. Until the manifest exists, 16 GB are requested.
    """
    stored = weight_bytes(manifest)
    if stored is None:
        return scaled(16_000, attempt)
    logits = 8 * 60_000 * revision.settings["batch"] * revision.settings["context"]
    return scaled(3000 + (3 * stored + logits) // 10**6, attempt)


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Check that revisions are unique, and that `main` is used only for the end of a training."""
    places = [place for place, _ in _revisions(config)]
    for place in places:
        if places.count(place) > 1:
            yield f"others.models: {place} is listed twice; keep one of them"
    for i, entry in enumerate(config["others"]["models"]):
        named, end = entry.get("revisions", ["main"]), entry.get("main_is")
        if end is None:
            continue
        where = f"others.models.{i}.main_is: {end} of {entry['name']}"
        if (last := step(end)) is None:
            yield f"{where} has no step in its name; write the last revision, such as step143000"
        elif {"main", end} <= set(named):
            yield f"{where} is main, and both are listed in revisions; keep one of them"
        elif later := [revision for revision in named if (step(revision) or 0) > last]:
            yield f"{where} is not the end of training: {later[0]} comes after it"


def folders(config: Mapping[str, Any]) -> dict[str, str]:
    """Return folders of the user that are read in the place of models of the hub, by key."""
    return {
        f"others.models: revision {one.revision} of {one.model}": one.source["folder"]
        for one in revisions(config).values()
        if "folder" in one.source
    }


def assets(config: Mapping[str, Any]) -> dict[str, tuple[dict[str, str], int | None]]:
    """Return the source and training step of each revision, by the name of its manifest."""
    return {one.asset: (one.source, one.step) for one in revisions(config).values()}


def _revisions(config: Mapping[str, Any]) -> Iterator[tuple[str, Revision]]:
    common = {key: value for key, value in config["others"].items() if key != "models"}
    for entry in config["others"]["models"]:
        how = common | {key: entry[key] for key in ("batch", "precision") if key in entry}
        for revision in entry.get("revisions", ["main"]):
            asset, source = _source(entry, revision)
            meant = entry.get("main_is", revision) if revision == "main" else revision
            one = Revision(entry["name"], revision, step(meant), asset, source, settings(**how))
            yield f"{one.model}/{file_name(revision)}", one


def _source(entry: Mapping[str, Any], revision: str) -> tuple[str, dict[str, str]]:
    """Return the asset and source of a revision.

    `main` is the end of training if the config says which step that is.
    """
    is_end = entry.get("main_is") == revision
    folder = as_folder(entry["hub"])
    if folder is None:
        otherwise = {"otherwise": "main"} if is_end else {}
        return asset_name(entry["hub"], revision, **otherwise), settings(
            repository=entry["hub"], revision=revision, **otherwise
        )
    if as_gguf(entry["hub"]):
        return asset_name(entry["hub"], revision), hub_source(entry["hub"], revision)
    inner = folder / revision if "revisions" in entry else folder
    if is_end and not inner.is_dir():
        main = folder / "main"
        source = settings(folder=str(main), revision="main", instead_of=revision)
        return folder_name(str(main), revision), source
    return folder_name(str(inner)), settings(folder=str(inner))


def _drawn(name: str, label: str) -> list[Shown]:
    """Return a figure as one of several outputs of its rule."""
    return [Shown(name, "8 Small models", label)]


def tables(run: Run) -> Iterator[Table]:
    """Yield the courses of the models trained here, and those of other people's."""
    if measured := followed(run.models.values()):
        forced = {"forced": _drawn("forced_along_training", "Along training: what the head forces, and the rest")}
        yield Table(
            "along_training_table",
            "show.py",
            {
                "measures": [f"{run.results}/dynamics/{model.name}.parquet" for model in measured],
                "spectra": [f"{run.results}/dynamics/spectra/{model.name}.parquet" for model in measured],
            },
            settings(
                unit=run.unit,
                models=[{"model": model.name, "rank": model.rank, "seed": model.seed} for model in measured],
            ),
            table=Shown("along_training", "8 Small models", "Along training: where the models end"),
            figures=(forced if run.config["dynamics"]["forced_per_window"] else {})
            | {
                "courses": _drawn("along_training", "Along training: loss, head and hidden states"),
                "against_loss": _drawn("oversmoothing_against_loss", "Oversmoothing against loss"),
                "layers": _drawn("layers_along_training", "Along training: the hidden states of every block"),
                "spectra": _drawn("head_spectra", "Along training: singular values of the head"),
            },
        )
    if read := revisions(run.config):
        yield Table(
            "other_models_table",
            "show.py",
            {"measures": [f"{run.results}/others/{place}.parquet" for place in read]},
            settings(
                unit="token",
                models=[{"model": one.model, "revision": one.revision, "step": one.step} for one in read.values()],
            ),
            table=Shown("other_models", "8 Small models", "Other people's models, by revision"),
            figures={"courses": _drawn("other_models", "Other people's models: loss, head and hidden states")},
        )


STUDY = Study(mistakes, tables=tables, folders=folders, assets=assets, tested={"along_training": ()})
