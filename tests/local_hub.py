"""A Hugging Face hub on this machine: the few addresses that huggingface_hub asks, over plain HTTP; and its cache."""

import hashlib
import json
import re
import threading
import time
import types
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from huggingface_hub import constants
from huggingface_hub.utils import _http

LARGE = 2000  # bytes from which a file is stored as git LFS stores it, by its SHA-256


@dataclass
class Repo:
    """What the hub has of a repository: its branch main, and others by name."""

    files: dict[str, bytes]
    kind: str = "model"
    gated: bool = False
    commit: str = ""
    branches: dict[str, "Repo"] = field(default_factory=dict)

    def __post_init__(self):
        self.commit = self.commit or hashlib.sha1(repr(sorted(self.files.items())).encode()).hexdigest()

    def at(self, revision):
        """Return what a branch or a commit holds; None for one that is not there."""
        named = {"main": self, **self.branches}
        return named.get(revision) or {branch.commit: branch for branch in named.values()}.get(revision)


@dataclass
class Hub:
    repos: dict[str, Repo]
    address: str = ""
    requests: list[str] = field(default_factory=list)
    down: bool = False
    refuses: tuple[int, dict[str, str]] | None = None  # status and headers of the answer to requests for files


@contextmanager
def local_hub(repos):
    """Serve repositories, by name; yield the `Hub`, whose fields a test may change."""
    hub = Hub(repos)

    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


def point_to(address, monkeypatch, home):
    """Send huggingface_hub, which reads its environment once, to another address and cache, and wait for nothing."""
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(_http, "time", types.SimpleNamespace(sleep=lambda _: None, time=time.time))


def etag(content):
    if len(content) >= LARGE:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def in_the_cache(folder, cache, name="models--owner--small", commit="0123456789" * 4):
    """Lay a folder's files out as the hub's cache does; return the snapshot."""
    snapshot = cache / name / "snapshots" / commit
    for place in (snapshot, cache / name / "blobs", cache / name / "refs"):
        place.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        blob = hashlib.sha256(path.read_bytes()).hexdigest()
        path.rename(cache / name / "blobs" / blob)
        (snapshot / path.name).symlink_to(f"../../blobs/{blob}")
    (cache / name / "refs/main").write_text(commit)
    return snapshot


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET(body=False)

    def do_GET(self, body=True):
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(f"{self.command} {path} {self.headers.get('Range', '')}".strip())
        if self.hub.down:
            return self._refuse(503, "Down")
        api = re.fullmatch(r"/api/(model|dataset)s/(.+?)/(revision|tree)/([^/]+)(?:/(.+))?", path)
        file = re.fullmatch(r"/(datasets/)?(.+?)/resolve/([^/]+)/(.+)", path)
        if file:
            kind, name, revision = "dataset" if file[1] else "model", file[2], file[3]
        else:
            kind, name, revision = (api[1], api[2], api[4]) if api else (None, None, None)
        repo = self.hub.repos.get(name)
        if repo is None or repo.kind != kind:
            return self._refuse(404, "RepoNotFound")
        if repo.gated:
            return self._refuse(403, "GatedRepo")
        if (repo := repo.at(revision)) is None:
            return self._refuse(404, "RevisionNotFound")
        if file and self.hub.refuses:
            return self._refuse(self.hub.refuses[0], "Refused", self.hub.refuses[1])
        if file:
            return self._file(repo, file[4], body)
        if api[3] == "revision":
            return self._json({"id": name, "sha": repo.commit, "siblings": []})
        return self._json(
            _tree(repo, f"{api[5]}/" if api[5] else "", "recursive=true" in urlsplit(self.path).query.lower())
        )

    def _file(self, repo, path, body):
        if path not in repo.files:
            return self._refuse(404, "EntryNotFound")
        content = repo.files[path]
        start = int(re.match(r"bytes=(\d+)-", self.headers.get("Range", "bytes=0-"))[1])
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{etag(content)}"')
        self.send_header("X-Repo-Commit", repo.commit)
        self.send_header("Accept-Ranges", "bytes")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if body:
            self.wfile.write(content[start:])
        return None

    def _json(self, value):
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _refuse(self, status, code, headers=None):
        self.send_response(status)
        for name, value in (headers or {"X-Error-Code": code}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _tree(repo, under, recursive):
    entries = []
    for path, content in sorted(repo.files.items()):
        if path.startswith(under) and (recursive or "/" not in path.removeprefix(under)):
            entry = {"type": "file", "path": path, "size": len(content), "oid": etag(content)}
            if len(content) >= LARGE:
                entry["lfs"] = {"oid": etag(content), "size": len(content), "pointerSize": 130}
            entries.append(entry)
        elif path.startswith(under):
            folder = under + path.removeprefix(under).split("/")[0]
            if not any(entry["path"] == folder for entry in entries):
                entries.append({"type": "directory", "path": folder, "size": 0, "oid": "0" * 40})
    return entries
