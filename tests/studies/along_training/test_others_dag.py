"""Other people's models through the DAG: revisions of a hub on this machine, fetched once and then read offline."""

import json

import pandas as pd
import pytest
import yaml
from hub_models import files_of, write_gpt2, write_neox
from local_hub import Repo, local_hub
from study import TINY, copy_built

from oversmoothing.tables.record import read_record

NOWHERE = "http://127.0.0.1:9"
STEPS = {"step0": 0, "step1": 1, "step4": 3}
NEOX = {"name": "neox", "hub": "owner/neox", "revisions": [*STEPS, "step8"], "main_is": "step8"}
SIZES = {"bytes": 150, "context": 64, "batch": 2}
TABLE, FIGURE = "results/tables/other_models.csv", "results/figures/other_models.png"


@pytest.fixture(scope="module")
def repos(tmp_path_factory):
    """Return a GPT-NeoX at three steps and at its last, which the hub has only as main."""
    folder = tmp_path_factory.mktemp("repos")
    for name, seed in (STEPS | {"main": 4}).items():
        write_neox(folder / name, seed)
    branches = {name: Repo(files_of(folder / name)) for name in STEPS}
    return {"owner/neox": Repo(files_of(folder / "main"), branches=branches)}


def write(folder, models):
    """Write a config of other people's models; return the configs that Snakemake lays over each other."""
    (folder / "others.yaml").write_text(yaml.safe_dump({"others": {**SIZES, "models": models}}))
    return (TINY, str(folder / "others.yaml"))


@pytest.fixture(scope="module")
def project(tmp_path_factory, built, repos):
    """A project whose table of other people's models was built with the hub out of reach after `assets`."""
    study = copy_built(built, tmp_path_factory.mktemp("others") / "study")
    write_gpt2(study.folder / "gpt2")
    config = write(study.folder, [NEOX, {"name": "gpt2", "hub": "./gpt2"}])
    with pytest.MonkeyPatch.context() as patch, local_hub(repos) as hub:
        patch.setenv("HF_HOME", str(study.folder / "home"))
        patch.setenv("HF_ENDPOINT", hub.address)
        study.snakemake("assets", config=config)
        patch.setenv("HF_ENDPOINT", NOWHERE)
        study.snakemake(TABLE, FIGURE, config=config)
        patch.setenv("HF_ENDPOINT", hub.address)
        yield study


def test_every_revision_has_its_row_and_says_what_was_read(project, repos):
    rows = read_record(project.folder / TABLE)
    rows = rows[rows.layer.isna()].set_index(["model", "revision", "measure"])
    losses = rows.xs("loss", level="measure")
    assert list(losses.index) == [*(("neox", name) for name in NEOX["revisions"]), ("gpt2", "main")]
    assert list(losses.step[:4]) == [0, 1, 4, 8]
    assert pd.isna(losses.loc[("gpt2", "main"), "step"])
    assert list(rows.note.xs("read", level="measure")) == ["step0", "step1", "step4", "main", "main"]
    neox = repos["owner/neox"]
    assert list(rows.note.xs("commit", level="measure")[:4]) == [
        *(neox.branches[name].commit for name in STEPS),
        neox.commit,
    ]
    assert losses.value.nunique() == 5


def test_the_revision_that_is_missing_is_warned_of(project, repos):
    log = (project.folder / "results/logs/fetch/owner--neox@step8@main.log").read_text()
    commit = repos["owner/neox"].commit
    assert f"WARNING model owner/neox@step8: the hub has no such revision; reading main instead: {commit}" in log
    manifest = json.loads((project.folder / "assets/owner--neox@step8@main.json").read_text())
    assert (manifest["revision"], manifest["instead_of"], manifest["commit"]) == ("main", "step8", commit)
    log = (project.folder / "results/logs/others/neox/step8.log").read_text()
    assert "WARNING neox/step8: revision main is read in place of step8" in log
    assert ", for want of it" in (project.folder / "results/tables/other_models.md").read_text()


def test_a_second_run_does_nothing_and_another_revision_costs_only_itself(project, tmp_path):
    gpt2 = {"name": "gpt2", "hub": "./gpt2"}
    assert project.planned(TABLE, FIGURE, config=write(tmp_path, [NEOX, gpt2])) == {}
    more = [{**NEOX, "revisions": ["main", *STEPS], "main_is": "step9"}, {**gpt2, "batch": 1}]
    planned = project.planned(TABLE, FIGURE, config=write(tmp_path, more))
    assert planned == {"fetch": 1, "others": 2, "other_models_table": 1}


def test_a_metric_that_is_added_and_what_the_head_forces_are_followed(everything):
    table = read_record(everything.folder / "results/tables/along_training.csv")
    assert {"brier", "forced", "rest"} <= set(table.measure)
