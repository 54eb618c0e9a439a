"""Files from a hub on this machine: manifests, broken downloads, and what goes wrong."""

import hashlib
import json
import os
import random
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from local_hub import Repo, in_the_cache, local_hub, point_to
from odd_json import mutated

import fetch as fetching
from oversmoothing.hub import client as module
from oversmoothing.hub import listing
from oversmoothing.hub.client import MODEL_FILES, MODEL_NEEDS, TOKENIZER_FILES, alone_in, fetch, from_cache, take_stock
from oversmoothing.hub.listing import Repository, resolve
from oversmoothing.hub.manifest import asset_folder, read_asset
from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import write_sealed

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
        yield hub


def fetch_model(folder):
    return fetch(MODEL, MODEL_FILES, folder, MODEL_NEEDS)


def downloads(hub):
    return [request for request in hub.requests if "resolve" in request]


def test_a_model_without_pickles_and_code(hub, tmp_path):
    folder = tmp_path / "small"
    manifest = fetch_model(folder)
    wanted = ["config.json", "model.safetensors", "tokenizer.json"]
    assert manifest == {
        **{"repository": "owner/small", "kind": "model", "revision": "main"},
        "commit": hub.repos["owner/small"].commit,
        "files": {
            name: {"size": len(FILES[name]), "sha256": hashlib.sha256(FILES[name]).hexdigest()} for name in wanted
        },
    }
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: FILES[name] for name in wanted}


def test_shards_of_a_dataset(hub, tmp_path):
    manifest = fetch(Repository("owner/text", kind="dataset"), ["sample/10BT/00[01]*.parquet"], tmp_path)
    assert list(manifest["files"]) == list(SHARDS)[:2]
    assert (tmp_path / "sample/10BT/001_00000.parquet").read_bytes() == SHARDS["sample/10BT/001_00000.parquet"]


def test_what_is_there_is_not_fetched_again_unless_it_is_cut_short(hub, tmp_path):
    first = fetch_model(tmp_path)
    hub.requests.clear()
    assert fetch_model(tmp_path) == first
    assert not downloads(hub)
    (tmp_path / "model.safetensors").write_bytes(LARGE[:-7])
    assert fetch_model(tmp_path) == first
    assert (tmp_path / "model.safetensors").read_bytes() == LARGE


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


def test_a_branch_that_moved_replaces_files_and_others_in_the_folder_may_stay(hub, tmp_path):
    fetch_model(tmp_path)
    hub.repos["owner/small"] = Repo({"config.json": b"{}", "model-00001-of-00001.safetensors": b"new"})
    fetch(MODEL, ["config.json"], tmp_path, tidy=False)
    assert (tmp_path / "config.json").read_bytes() == b"{}"
    assert (tmp_path / "model.safetensors").exists()
    assert sorted(fetch_model(tmp_path)["files"]) == ["config.json", "model-00001-of-00001.safetensors"]
    assert not (tmp_path / "model.safetensors").exists()


def test_a_hub_that_serves_something_else_than_it_lists(hub, tmp_path, monkeypatch):
    real = module.list_files

    def listed(*arguments):
        return [replace(file, blob_id="0" * 40) for file in real(*arguments)]

    monkeypatch.setattr(module, "list_files", listed)
    with pytest.raises(UserError, match=r"model owner/small@main: config\.json was damaged in transfer"):
        fetch(MODEL, ["config.json"], tmp_path)
    assert not (tmp_path / "config.json").exists()


@pytest.mark.parametrize(
    ("repository", "message"),
    [
        (Repository("owner/none"), "model owner/none@main: no such repository on the hub, or a private one"),
        (Repository("owner/text"), "model owner/text@main: no such repository"),
        (Repository("owner/small", "v9"), "owner/small@v9: the repository has no revision 'v9'"),
        (Repository("not a name"), "not a valid repository name"),
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
    assert f"owner/small@step8: the hub has no such revision; reading main instead: {commit}" in caplog.text
    there = fetch(Repository("owner/small", "step4"), MODEL_FILES, tmp_path / "4", MODEL_NEEDS, otherwise="main")
    assert there["revision"] == "step4"
    assert "instead_of" not in there
    assert (tmp_path / "4/config.json").read_bytes() == b"{}"


def test_nothing_else_leads_to_another_revision(hub, branch, tmp_path):
    with pytest.raises(UserError, match="owner/small@step8: the repository has no revision 'step8'; name another"):
        fetch(branch, MODEL_FILES, tmp_path, MODEL_NEEDS)
    hub.repos["owner/small"].gated = True
    with pytest.raises(UserError, match=r"owner/small@step8: gated: accept its terms .* HF_TOKEN"):
        fetch(branch, MODEL_FILES, tmp_path, MODEL_NEEDS, otherwise="main")
    hub.down = True
    with pytest.raises(UserError, match="owner/small@step8: the hub cannot be reached"):
        fetch(branch, MODEL_FILES, tmp_path, MODEL_NEEDS, otherwise="main")
    with pytest.raises(UserError, match="owner/none@step8: no such repository"):
        hub.down = False
        fetch(Repository("owner/none", "step8"), MODEL_FILES, tmp_path, MODEL_NEEDS, otherwise="main")


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("headers", [{"X-Error-Message": "Invalid credentials in Authorization header"}, {}])
def test_a_refusal_is_not_taken_for_a_network_that_is_down(hub, tmp_path, status, headers):
    """The real hub lists gated repositories, and refuses their files."""
    hub.refuses = (status, headers)
    message = r"owner/small@main: the hub refuses access .*gated or private.* set HF_TOKEN or"
    with pytest.raises(UserError, match=message):
        fetch_model(tmp_path)
    assert len(downloads(hub)) == 1  # asking again changes nothing


def test_no_more_is_read_than_the_hub_has_listed(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
    hub.pace = 0.001
    hub.answers["tree"] = [{"type": "file", "path": "model.safetensors", "size": 150_000, "oid": "0" * 40}]
    message = r"owner/small@main: model\.safetensors: the hub lists 150,000 bytes and sends more"
    with pytest.raises(UserError, match=message):
        fetch(MODEL, ["model.safetensors"], tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*")) == 0


def test_pickled_weights_alone_are_refused(hub, tmp_path):
    del hub.repos["owner/small"].files["model.safetensors"]
    with pytest.raises(
        UserError, match=r"it has no file model\*\.safetensors, but pickled weights, .* never read: load"
    ):
        fetch_model(tmp_path)


def test_no_network(tmp_path, monkeypatch):
    point_to("http://127.0.0.1:9", monkeypatch)
    with pytest.raises(UserError, match=r"the hub cannot be reached .*run `snakemake assets` with network access"):
        fetch_model(tmp_path)


def test_a_hub_that_fails_for_a_while(hub, tmp_path, monkeypatch):
    hub.down = True
    monkeypatch.setattr(listing.time, "sleep", lambda _: setattr(hub, "down", False))
    assert fetch(MODEL, ["config.json"], tmp_path)["files"]


def test_a_manifest_leads_to_its_files(hub, tmp_path):
    manifest = tmp_path / "small@main.json"
    write_sealed(manifest, fetch_model(tmp_path / "small@main"))
    assert asset_folder(manifest) == tmp_path / "small@main"
    weights = tmp_path / "small@main/model.safetensors"
    for damaged, message in (
        (LARGE[:-7], "has 2,999,993 bytes, not 3,000,000"),
        (LARGE[:-1] + bytes([LARGE[-1] ^ 1]), "has changed since its checksum was taken"),
        (None, "is missing"),
    ):
        weights.unlink() if damaged is None else weights.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"model\.safetensors {message}; delete .*@main\.json .*snakemake assets"):
            asset_folder(manifest)
        hub.requests.clear()
        fetch_model(tmp_path / "small@main")  # as the message says
        assert len(downloads(hub)) == 1
        assert asset_folder(manifest) == tmp_path / "small@main"
    manifest.write_text(manifest.read_text().replace('"commit": "', '"commit": "0'))
    with pytest.raises(UserError, match=r"small@main\.json: changed or damaged since it was written"):
        asset_folder(manifest)


def test_a_folder_of_the_users_own(tmp_path):
    folder = tmp_path / "own"
    (folder / "tokenizer-old").mkdir(parents=True)
    (folder / "tokenizer-old/vocab.json").write_bytes(b"{}")  # files in folders inside are no part of a model
    for name in ("config.json", "model.safetensors", "pytorch_model.bin"):
        (folder / name).write_bytes(FILES[name])
    manifest = take_stock(folder, MODEL_FILES)
    assert sorted(manifest["files"]) == ["config.json", "model.safetensors"]
    (tmp_path / "m.json").write_text(json.dumps(manifest))
    assert asset_folder(tmp_path / "m.json") == folder
    with pytest.raises(UserError, match=r"own: it has no file model-\*\.safetensors"):
        take_stock(folder, MODEL_FILES, ["config.json", "model-*.safetensors"])
    (folder / "model.safetensors").unlink()
    with pytest.raises(
        UserError, match=r"has no file model\*\.safetensors .*, but pickled weights, .*`save_pretrained`"
    ):
        take_stock(folder, MODEL_FILES, MODEL_NEEDS)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A hub's cache with the snapshot of a model, and no network."""
    (tmp_path / "files").mkdir()
    for name in ("config.json", "model.safetensors", "pytorch_model.bin", "tokenizer.json"):
        (tmp_path / "files" / name).write_bytes(FILES[name])
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(socket.socket, "connect", lambda *others: pytest.fail("it asked the network"))
    return in_the_cache(tmp_path / "files", tmp_path / "hub")


def job_of(tmp_path, **settings):
    return SimpleNamespace(params=SimpleNamespace(settings=settings), output=[str(tmp_path / "m.json")])


@pytest.mark.parametrize("named", ["owner/small", "snapshot"])
def test_a_model_in_the_hubs_own_cache_is_read_there(cache, tmp_path, named):
    source = {"repository": named, "revision": "main"} if "/" in named else {"folder": str(cache)}
    fetching.main(job_of(tmp_path, **source))
    manifest = read_asset(tmp_path / "m.json")
    assert asset_folder(tmp_path / "m.json") == cache
    assert sorted(manifest["files"]) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert (manifest["repository"], manifest["commit"]) == ("owner/small", cache.name)
    fetched = {"kind": "model", "revision": "main"} if "/" in named else {}
    assert {key: manifest[key] for key in ("kind", "revision") if key in manifest} == fetched
    assert not (tmp_path / "m").exists()


def test_revisions_in_the_cache(cache):
    (cache.parents[1] / "refs/v1").write_text(cache.name)
    for revision in ("main", "v1", cache.name):
        assert from_cache(Repository("owner/small", revision), MODEL_FILES)["commit"] == cache.name
    assert list(from_cache(MODEL, TOKENIZER_FILES)["files"]) == ["tokenizer.json"]
    for revision in ("v2", "0" * 40, "../refs/main", "../../x"):
        assert from_cache(Repository("owner/small", revision), MODEL_FILES) is None
    for name in ("owner/none", "not a name", "../small"):
        assert from_cache(Repository(name), MODEL_FILES) is None
    (cache.parents[1] / "refs/main").write_text("../../../elsewhere")
    assert from_cache(MODEL, MODEL_FILES) is None


@pytest.mark.parametrize(
    ("name", "index"),
    [
        *[(name, None) for name in ("config.json", "model.safetensors", "tokenizer.json")],
        ("model-2.safetensors", {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}),
    ],
)
def test_an_incomplete_snapshot_is_fetched_anew(cache, caplog, name, index):
    if index:
        (cache / "model.safetensors.index.json").write_text(json.dumps(index))
    else:
        (cache / name).resolve().unlink()
    assert from_cache(MODEL, MODEL_FILES) is None
    pattern = "model*.safetensors" if name == "model.safetensors" else name
    assert f"{cache}: it has no {pattern}, so it is fetched" in caplog.text


def test_what_is_damaged_or_leads_elsewhere_in_the_cache(cache, tmp_path):
    blob = (cache / "model.safetensors").resolve()
    blob.write_bytes(LARGE[:-1])
    with pytest.raises(
        UserError, match=r"model\.safetensors: not as the hub described it .*; run `hf download owner/sm"
    ):
        from_cache(MODEL, MODEL_FILES)
    blob.rename(tmp_path / "secret")
    (cache / "model.safetensors").unlink()
    (cache / "model.safetensors").symlink_to(tmp_path / "secret")
    for source in ({"repository": "owner/small", "revision": "main"}, {"folder": str(cache)}):
        with pytest.raises(UserError, match=r"model\.safetensors: a link that leads out of the folder"):
            fetching.main(job_of(tmp_path, **source))
    assert not (tmp_path / "m.json").exists()


def test_what_is_no_plain_data_is_not_fetched(hub, tmp_path):
    names = ["tokenizer.py", "tokenizer.pkl", "tokenizer_own.py", "tokenizer.bin", "model.safetensors.py"]
    hub.repos["owner/small"].files.update(dict.fromkeys(names, b"x"), **{"tokenizer.model": b"x", "merges.txt": b"x"})
    found = fetch(MODEL, MODEL_FILES, tmp_path / "small", MODEL_NEEDS)["files"]
    assert sorted(found) == ["config.json", "merges.txt", "model.safetensors", "tokenizer.json", "tokenizer.model"]
    assert sorted(path.name for path in (tmp_path / "small").iterdir()) == sorted(found)


def listed(path, **changes):
    return {"type": "file", "path": path, "size": 2, "oid": hashlib.sha1(b"blob 2\0{}").hexdigest(), **changes}


ODD_PATHS = ["../x.json", "tokenizer/../../x.json", "/x.json", "a\\..\\x.json", "..", "", "a\0.json"]


@pytest.mark.parametrize("path", ODD_PATHS)
def test_a_listing_that_leads_out_of_the_folder(hub, tmp_path, path):
    hub.answers["tree"] = [listed("config.json"), listed(path)]
    with pytest.raises(UserError, match=r"owner/small@main: the hub lists '.*', which is not in the folder /"):
        fetch(MODEL, MODEL_FILES, tmp_path / "assets/small", ["config.json"])
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"{", "the hub's answer is not JSON"),
        (None, "the hub's listing is None, not a list"),
        ({"error": "x"}, "the hub's listing is {'error': 'x'}, not a list"),
        ([None], "the hub lists None, which is not a file"),
        ([listed(["config.json"])], r"the hub lists \{.*, which is not a file"),
        *[
            ([listed("config.json", **odd)], "the hub lists config.json without its size")
            for odd in (
                *({"size": -1}, {"size": "2"}, {"oid": None}, {"oid": "../../x"}),
                *({"lfs": []}, {"lfs": {"oid": 3}}),
            )
        ],
    ],
)
def test_odd_listings(hub, tmp_path, answer, message):
    hub.answers["tree"] = answer
    with pytest.raises(UserError, match=f"model owner/small@main: {message}"):
        fetch(MODEL, MODEL_FILES, tmp_path, ["config.json"])


@pytest.mark.parametrize("answer", [b"<html>", None, [], {}, {"sha": None}, {"sha": "../../x"}, {"sha": ["a"]}])
def test_odd_answers_about_a_revision(hub, answer):
    hub.answers["revision"] = answer
    with pytest.raises(UserError, match=r"model owner/small@main: the hub('s answer is not JSON| gives no commit)"):
        resolve(MODEL)


def test_hostile_listings(hub, tmp_path):
    """Wrong in places drawn from a seed: what is fetched is as listed, or one line says why not."""
    whole = [listed("config.json"), listed("tokenizer.json", lfs={"oid": hashlib.sha256(b"{}").hexdigest(), "size": 2})]
    hub.repos["owner/small"].files = {"config.json": b"{}", "tokenizer.json": b"{}"}
    messages, fetched = [], []
    for seed in range(60):
        hub.answers["tree"] = mutated(random.Random(seed), whole)
        try:
            found = fetch(MODEL, ["config.json", "tokenizer*.json"], tmp_path / "small", ["config.json"])
        except UserError as error:
            messages.append(str(error))
        else:
            fetched.append({(tmp_path / "small" / path).read_bytes() for path in found["files"]})
    assert fetched == [{b"{}"}] * len(fetched)
    assert all(message.startswith("model owner/small@main: ") and "\n" not in message for message in messages)
    assert min(len(fetched), len(messages)) > 5
    assert {path.name for path in tmp_path.iterdir()} <= {"small", ".small.lock"}


def test_a_listing_of_several_pages(hub, tmp_path):
    hub.page = 1
    assert len(fetch_model(tmp_path)["files"]) == 3
    hub.next_page = "?again"
    with pytest.raises(UserError, match="owner/small@main: the hub's listing does not end"):
        fetch_model(tmp_path)


@pytest.fixture
def token(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    return "Bearer hf_secret"


def test_the_hub_gets_the_token(hub, token, tmp_path):
    fetch_model(tmp_path)
    assert hub.tokens == [token] * 5  # the revision, the listing and three files


def test_a_listing_that_goes_on_at_another_host_is_not_followed(hub, token, tmp_path):
    with local_hub(hub.repos) as other:
        hub.next_page = f"{other.address}/api/models/owner/small/tree/main"
        with pytest.raises(UserError, match=r"its listing continues on another host, 127\.0\.0\.1, which is refused"):
            fetch_model(tmp_path)
        assert other.requests == []


def test_another_host_that_has_the_files_does_not_get_the_token(hub, token, tmp_path):
    with local_hub(hub.repos) as other:
        hub.files_at = other.address
        fetch_model(tmp_path)
        assert (tmp_path / "model.safetensors").read_bytes() == LARGE
        assert other.tokens == [None, None, None]


@pytest.mark.parametrize("text", ["{", "[]", "{}", "[" * 100_000, '{"files": []}', '{"files": {"a": {"size": 1}}}'])
def test_manifests_that_are_none(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(UserError, match=r"m\.json: not a manifest of fetched files .*; delete it and run again"):
        asset_folder(tmp_path / "m.json")


FETCHING = """
import logging, sys
from oversmoothing.hub import listing
from oversmoothing.hub.client import MODEL_FILES, MODEL_NEEDS, fetch
logging.basicConfig(level=logging.INFO)
fetch(listing.Repository("owner/small"), MODEL_FILES, sys.argv[1], MODEL_NEEDS)
"""


def test_two_processes_that_fetch_into_one_folder(hub, tmp_path):
    hub.pace = 0.02  # so that the downloads overlap
    environment = {**os.environ, "HF_ENDPOINT": hub.address, "PYTHONPATH": str(Path(module.__file__).parents[2])}
    command = [sys.executable, "-c", FETCHING, str(tmp_path / "small")]
    running = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    errors = [process.communicate(timeout=300)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], errors
    assert (tmp_path / "small/model.safetensors").read_bytes() == LARGE
    names = {path.name for path in (tmp_path / "small").iterdir()}
    assert names == {"config.json", "model.safetensors", "tokenizer.json"}
    assert len(downloads(hub)) == 3  # each file once


def test_one_at_a_time(tmp_path):
    held = "import sys\nfrom oversmoothing.hub.client import alone_in\nwith alone_in(sys.argv[1]): print('mine')"
    environment = {**os.environ, "PYTHONPATH": str(Path(module.__file__).parents[2])}
    with alone_in(tmp_path / "folder"):
        command = [sys.executable, "-c", held, str(tmp_path / "folder")]
        other = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=3)
    assert other.communicate(timeout=300)[0] == "mine\n"


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch, caplog):
    def unsupported(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(module.fcntl, "flock", unsupported)
    with alone_in(tmp_path / "folder"):
        assert "folder: no locks on this file system" in caplog.text
