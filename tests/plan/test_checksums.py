"""Snakemake's checksums of inputs."""

import asyncio
import hashlib
from types import SimpleNamespace

import pytest
from snakemake.io import IOCache, IOFile, _IOFile

from tracking.checksums import compute_once


@pytest.fixture
def reads(monkeypatch):
    """The files that Snakemake read for a checksum."""
    monkeypatch.setattr(_IOFile, "checksum", _IOFile.checksum)
    read = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda file, kind: read.append(file.name) or digest(file, kind))
    return read


@pytest.fixture
def file(tmp_path):
    """A file as Snakemake sees it while jobs run."""
    path = tmp_path / "logits.parquet"
    path.write_bytes(b"first")
    cache = IOCache(0)
    cache.deactivate()
    file = IOFile(str(path))
    file.rule = SimpleNamespace(workflow=SimpleNamespace(iocache=cache))
    return file


def checksum(file, largest=100):
    return asyncio.run(file.checksum(largest))


def test_a_file_is_read_once_until_it_changes_and_not_above_the_limit(file, reads, tmp_path):
    compute_once()
    compute_once()
    assert checksum(file) == checksum(file) == f"sha256:{hashlib.sha256(b'first').hexdigest()}"
    assert reads == [str(file)]
    assert checksum(file, largest=1) is None
    (tmp_path / "new").write_bytes(b"other")
    (tmp_path / "new").replace(str(file))
    assert checksum(file) == f"sha256:{hashlib.sha256(b'other').hexdigest()}"
    assert len(reads) == 2
    (tmp_path / "logits.parquet").unlink()
    assert checksum(file) is None
