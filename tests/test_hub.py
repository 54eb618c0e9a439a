"""Files from a hub on this machine: manifests, broken downloads, and what goes wrong."""

import hashlib
import json
import random

import pytest
from huggingface_hub import constants
from local_hub import Repo, local_hub

from oversmoothing import hub as module
from oversmoothing.hub import MODEL_FILES, MODEL_NEEDS, Repository, asset_folder, fetch, take_stock
from oversmoothing.jobs import UserError

LARGE = random.Random(0).randbytes(3_000_000)
FILES = {
    "config.json": b'{"model_type": "gpt2"}',
    "model.safetensors": LARGE,
    "pytorch_model.bin": b"pickled",
    "modeling_own.py": b"raise SystemExit",
    "onnx/config.json": b"{}",
    "tokenizer.json": b"{}",
}
SHARDS = {f"sample/10BT/{i:03}_00000.parquet": bytes([i]) * 5000 for i in range(3)}
MODEL = Repository("owner/small")


@pytest.fixture
def hub(monkeypatch):
    repos = {"owner/small": Repo(dict(FILES)), "owner/text": Repo({**SHARDS, "README.md": b"text"}, kind="dataset")}
    with local_hub(repos) as hub:
        point_to(hub.address, monkeypatch)
        monkeypatch.setattr(module, "WAIT", 0)
        yield hub


def point_to(address, monkeypatch):
    """Send huggingface_hub, which reads its environment once, to another address."""
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")


def test_a_model_without_pickles_and_code(hub, tmp_path):
    folder = tmp_path / "small"
    manifest = fetch(MODEL, MODEL_FILES, folder, MODEL_NEEDS)
    wanted = ["config.json", "model.safetensors", "tokenizer.json"]
    assert sorted(manifest["files"]) == wanted
    assert manifest["commit"] == hub.repos["owner/small"].commit
    assert (manifest["repository"], manifest["kind"], manifest["revision"]) == ("owner/small", "model", "main")
    for name in wanted:
        assert (folder / name).read_bytes() == FILES[name]
        facts = {"size": len(FILES[name]), "sha256": hashlib.sha256(FILES[name]).hexdigest()}
        assert manifest["files"][name] == facts
    assert not (folder / "onnx").exists()


def test_shards_of_a_dataset(hub, tmp_path):
    manifest = fetch(Repository("owner/text", kind="dataset"), ["sample/10BT/00[01]*.parquet"], tmp_path)
    assert list(manifest["files"]) == list(SHARDS)[:2]
    assert (tmp_path / "sample/10BT/001_00000.parquet").read_bytes() == SHARDS["sample/10BT/001_00000.parquet"]


def test_what_is_there_is_not_fetched_again(hub, tmp_path):
    first = fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS)
    hub.requests.clear()
    assert fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS) == first
    assert not [request for request in hub.requests if "resolve" in request]


def test_a_broken_connection_goes_on_where_it_broke(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)  # what arrives is kept in pieces of this size
    hub.breaks[:] = [1_000_000]
    fetch(MODEL, ["model.safetensors"], tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == LARGE
    ranges = [request for request in hub.requests if "bytes=" in request]
    assert ranges == [f"GET /owner/small/resolve/{hub.repos['owner/small'].commit}/model.safetensors bytes=1000000-"]


def test_a_killed_download_goes_on_in_the_next_run(hub, tmp_path, monkeypatch):
    def killed(url, opened, **_):
        opened.write(LARGE[:1_000_000])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "http_get", killed)
        with pytest.raises(KeyboardInterrupt):
            fetch(MODEL, ["model.safetensors"], tmp_path)
    assert not (tmp_path / "model.safetensors").exists()
    fetch(MODEL, ["model.safetensors"], tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == LARGE
    assert [request for request in hub.requests if "bytes=1000000-" in request]
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_part_that_is_damaged_is_fetched_anew(hub, tmp_path):
    part = tmp_path / f".model.safetensors.{hashlib.sha256(LARGE).hexdigest()[:12]}.part"
    part.write_bytes(b"?" * 1_000_000)
    fetch(MODEL, ["model.safetensors"], tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == LARGE


def test_others_in_the_folder_may_stay(hub, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    fetch(MODEL, ["config.json"], tmp_path, tidy=False)
    assert (tmp_path / "mine.txt").exists()
    fetch(MODEL, ["config.json"], tmp_path)
    assert not (tmp_path / "mine.txt").exists()


def test_a_file_cut_short_on_disk_is_fetched_again(hub, tmp_path):
    first = fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS)
    (tmp_path / "model.safetensors").write_bytes(LARGE[:-7])
    assert fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS) == first
    assert (tmp_path / "model.safetensors").read_bytes() == LARGE


def test_a_hub_that_serves_something_else_than_it_lists(hub, tmp_path, monkeypatch):
    real = module.list_files

    def listed(*arguments):
        files = real(*arguments)
        for file in files:
            file.blob_id = "0" * 40
        return files

    monkeypatch.setattr(module, "list_files", listed)
    with pytest.raises(UserError, match=r"model owner/small@main: config\.json arrives damaged"):
        fetch(MODEL, ["config.json"], tmp_path)
    assert not (tmp_path / "config.json").exists()


def test_a_branch_that_moved_replaces_files_and_removes_stale_ones(hub, tmp_path):
    fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS)
    hub.repos["owner/small"] = Repo({"config.json": b"{}", "model-00001-of-00001.safetensors": b"new"})
    manifest = fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS)
    assert sorted(manifest["files"]) == ["config.json", "model-00001-of-00001.safetensors"]
    assert not (tmp_path / "model.safetensors").exists()
    assert (tmp_path / "config.json").read_bytes() == b"{}"


@pytest.mark.parametrize(
    ("repository", "message"),
    [
        (Repository("owner/none"), "model owner/none@main: no such repository on the hub, or a private one"),
        (Repository("owner/text"), "model owner/text@main: no such repository"),
        (Repository("owner/small", "v9"), "owner/small@v9: the repository has no revision 'v9'"),
        (Repository("not a name"), "not a name that the hub may have"),
    ],
)
def test_what_the_hub_does_not_have(hub, tmp_path, repository, message):
    with pytest.raises(UserError, match=message):
        fetch(repository, MODEL_FILES, tmp_path, MODEL_NEEDS)


@pytest.fixture
def branch(hub):
    """A repository whose branch step8 is missing, beside step4."""
    hub.repos["owner/small"].branches = {"step4": Repo({**FILES, "config.json": b"{}"})}
    return Repository("owner/small", "step8")


def test_another_revision_where_the_hub_has_not_the_one_asked_for(hub, branch, tmp_path, caplog):
    manifest = fetch(branch, MODEL_FILES, tmp_path, MODEL_NEEDS, otherwise="main")
    commit = hub.repos["owner/small"].commit
    assert (manifest["revision"], manifest["instead_of"], manifest["commit"]) == ("main", "step8", commit)
    assert (tmp_path / "config.json").read_bytes() == FILES["config.json"]
    assert f"owner/small@step8: the hub has no such revision; main is read in its place: {commit}" in caplog.text
    there = fetch(Repository("owner/small", "step4"), MODEL_FILES, tmp_path / "4", MODEL_NEEDS, otherwise="main")
    assert there["revision"] == "step4"
    assert "instead_of" not in there
    assert (tmp_path / "4/config.json").read_bytes() == b"{}"


def test_nothing_else_leads_to_another_revision(hub, branch, tmp_path):
    with pytest.raises(UserError, match="owner/small@step8: the repository has no revision 'step8'; name another"):
        fetch(branch, MODEL_FILES, tmp_path, MODEL_NEEDS)
    hub.repos["owner/small"].gated = True
    with pytest.raises(UserError, match="owner/small@step8: gated"):
        fetch(branch, MODEL_FILES, tmp_path, MODEL_NEEDS, otherwise="main")
    hub.down = True
    with pytest.raises(UserError, match="owner/small@step8: the hub cannot be reached"):
        fetch(branch, MODEL_FILES, tmp_path, MODEL_NEEDS, otherwise="main")
    with pytest.raises(UserError, match="owner/none@step8: no such repository"):
        hub.down = False
        fetch(Repository("owner/none", "step8"), MODEL_FILES, tmp_path, MODEL_NEEDS, otherwise="main")


def test_gated(hub, tmp_path):
    hub.repos["owner/small"].gated = True
    with pytest.raises(UserError, match=r"gated: accept its terms .* HF_TOKEN"):
        fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS)


def test_pickled_weights_alone_are_refused(hub, tmp_path):
    del hub.repos["owner/small"].files["model.safetensors"]
    with pytest.raises(UserError, match=r"it has no file model\*\.safetensors, and pickled weights .* are never read"):
        fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS)


def test_no_network(tmp_path, monkeypatch):
    point_to("http://127.0.0.1:9", monkeypatch)
    monkeypatch.setattr(module, "WAIT", 0)
    with pytest.raises(UserError, match=r"the hub cannot be reached .*run `snakemake assets` where the network is"):
        fetch(MODEL, MODEL_FILES, tmp_path, MODEL_NEEDS)


def test_a_hub_that_fails_for_a_while(hub, tmp_path, monkeypatch):
    hub.down = True
    monkeypatch.setattr(module.time, "sleep", lambda _: setattr(hub, "down", False))
    assert fetch(MODEL, ["config.json"], tmp_path)["files"]


def test_a_manifest_leads_to_its_files(hub, tmp_path):
    manifest = tmp_path / "small@main.json"
    manifest.write_text(json.dumps(fetch(MODEL, MODEL_FILES, tmp_path / "small@main", MODEL_NEEDS)))
    assert asset_folder(manifest) == tmp_path / "small@main"
    (tmp_path / "small@main/model.safetensors").write_bytes(LARGE[:-7])
    with pytest.raises(UserError, match=r"model\.safetensors has 2999993 bytes, not 3000000; delete .*@main\.json"):
        asset_folder(manifest)
    (tmp_path / "small@main/model.safetensors").unlink()
    with pytest.raises(UserError, match=r"model\.safetensors is missing"):
        asset_folder(manifest)
    manifest.write_text("{")
    with pytest.raises(UserError, match="no manifest of fetched files"):
        asset_folder(manifest)


def test_a_folder_of_the_users_own(tmp_path):
    (tmp_path / "own").mkdir()
    for name in ("config.json", "model.safetensors", "pytorch_model.bin"):
        (tmp_path / "own" / name).write_bytes(FILES[name])
    manifest = take_stock(tmp_path / "own", MODEL_FILES)
    assert sorted(manifest["files"]) == ["config.json", "model.safetensors"]
    with pytest.raises(UserError, match=r"own: it has no file model-\*\.safetensors"):
        take_stock(tmp_path / "own", MODEL_FILES, ["config.json", "model-*.safetensors"])
    (tmp_path / "own/model.safetensors").rename(tmp_path / "kept")
    with pytest.raises(UserError, match=r"has no file model\*\.safetensors .* pickled weights .*`save_pretrained`"):
        take_stock(tmp_path / "own", MODEL_FILES, MODEL_NEEDS)
    (tmp_path / "kept").rename(tmp_path / "own/model.safetensors")
    (tmp_path / "m.json").write_text(json.dumps(manifest))
    assert asset_folder(tmp_path / "m.json") == tmp_path / "own"
