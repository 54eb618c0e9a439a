"""Other people's models through the DAG: revisions of a hub on this machine, fetched once and then read offline."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from hub_models import files_of, write_gpt2, write_neox
from local_hub import Repo, local_hub
from safetensors.numpy import load_file
from study import TINY, copy_built
from transformers import AutoModelForCausalLM, AutoTokenizer

from oversmoothing.store.parquet import read_table
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
    files = files_of(folder / "main")
    return {
        "owner/neox": Repo(files, branches=branches),
        "owner/mixed": Repo(files, branches={"step1": branches["step1"], "step4": branches["step1"]}),
    }


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


def table(study):
    rows = read_record(study.folder / TABLE)
    return rows[rows.layer.isna()].set_index(["model", "revision", "measure"])


def test_every_revision_has_its_row_and_says_what_was_read(project, repos):
    rows = table(project)
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
    log = (project.folder / "results/logs/fetch/owner--neox@step8-or-main.log").read_text()
    commit = repos["owner/neox"].commit
    assert f"WARNING model owner/neox@step8: the hub has no such revision; reading main instead: {commit}" in log
    manifest = json.loads((project.folder / "assets/owner--neox@step8-or-main.json").read_text())
    assert (manifest["revision"], manifest["instead_of"], manifest["commit"]) == ("main", "step8", commit)
    log = (project.folder / "results/logs/others/neox/step8.log").read_text()
    assert "WARNING neox/step8: revision main is read in place of step8" in log
    assert ", for want of it" in (project.folder / "results/tables/other_models.md").read_text()


def test_the_numbers_are_those_of_direct_computation(project):
    """Singular values of the stored `embed_out`, and transformers' own loss, context by context."""
    folder = json.loads((project.folder / "assets/owner--neox@step8-or-main.json").read_text())["folder"]
    own = table(project).sort_index().value["neox", "step8"]
    sigma = np.linalg.svd(load_file(f"{folder}/model.safetensors")["embed_out.weight"], compute_uv=False)
    stored = read_table(project.folder / "results/others/neox/step8.spectrum.parquet")
    np.testing.assert_allclose(stored["singular_value"], sigma, rtol=1e-5)
    shares = sigma / sigma.sum()
    assert own["singular_entropy"] == pytest.approx(np.log(16) + (shares * np.log(shares)).sum(), abs=1e-5)
    text = (project.folder / "results/corpus/evaluation.bin").read_bytes()[:150].decode()
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    ids = torch.tensor([tokenizer(text)["input_ids"]])
    nats = 0.0
    for start in range(0, ids.shape[1] - 1, 63):
        part = ids[:, start : start + 64]
        nats += model(input_ids=part, labels=part).loss.item() * (part.shape[1] - 1)
    assert own["loss"] == pytest.approx(nats / (ids.shape[1] - 1), rel=1e-5)
    assert own["loss_per_byte"] == pytest.approx(nats / (150 - len(tokenizer.decode(ids[0, :1]))), rel=1e-5)


def test_a_second_run_does_nothing_and_another_revision_costs_only_itself(project, tmp_path):
    gpt2 = {"name": "gpt2", "hub": "./gpt2"}
    assert project.planned(TABLE, FIGURE, config=write(tmp_path, [NEOX, gpt2])) == {}
    more = [{**NEOX, "revisions": ["main", *STEPS], "main_is": "step9"}, {**gpt2, "batch": 1}]
    planned = project.planned(TABLE, FIGURE, config=write(tmp_path, more))
    assert planned == {"fetch": 1, "others": 2, "other_models_table": 1}


def test_steps_with_the_same_weights_are_refused_before_anything_is_fetched(project, tmp_path):
    config = write(tmp_path, [{"name": "mixed", "hub": "owner/mixed", "revisions": ["step1", "step4"]}])
    output = project.snakemake("assets", config=config, check=False)
    assert "Traceback" not in output
    assert "model owner/mixed: step1 and step4 have the same model.safetensors on the hub" in output
    assert not list((project.folder / "assets").glob("*owner--mixed*"))
