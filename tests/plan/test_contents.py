"""Size and digest of the user's files, taken once as long as nothing has touched them."""

import hashlib
import os
import re
from pathlib import Path

import pytest

from oversmoothing.store.sealed_json import read_sealed
from tracking import contents as module
from tracking.contents import KEPT, contents


@pytest.fixture
def text(tmp_path, monkeypatch):
    """A file that is old enough to be known again, in a project's folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "SETTLED", -(10**12))
    path = tmp_path / "text.txt"
    path.write_text("one")
    return path


def digest(text):
    return f"{len(text)} bytes, sha256 {hashlib.sha256(text.encode()).hexdigest()}"


def forbidden(*arguments):
    raise AssertionError("the file is read again")


def test_what_has_not_changed_is_not_read_again(text, monkeypatch):
    assert contents(["text.txt", "none.txt"]) == {"text.txt": digest("one")}
    monkeypatch.setattr(module.hashlib, "file_digest", forbidden)
    assert contents(["text.txt"]) == {"text.txt": digest("one")}
    assert contents([text]) == {str(text): digest("one")}
    assert contents([]) == {}


def test_a_change_counts_though_size_and_time_are_kept_and_so_does_an_older_file(text):
    contents([text])
    stat = text.stat()
    text.write_text("two")
    os.utime(text, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert contents([text]) == {str(text): digest("two")}
    other = text.with_name("older.txt")
    other.write_text("six")
    os.utime(other, (1, 1))
    other.replace(text)
    assert contents([text]) == {str(text): digest("six")}


def test_a_file_written_a_moment_ago_is_read_again(text, monkeypatch):
    """Within one tick of the file system's clock it may change and keep its time."""
    monkeypatch.setattr(module, "SETTLED", 10**12)
    contents([text])
    assert not KEPT.exists()


def test_a_damaged_or_unwritable_store_costs_time_alone(text, monkeypatch):
    contents([text])
    assert len(read_sealed(KEPT)) == 1
    KEPT.write_text('{"cut')
    assert contents([text]) == {str(text): digest("one")}

    def denied(*arguments):
        raise PermissionError

    KEPT.unlink()
    monkeypatch.setattr(module, "write_sealed", denied)
    assert contents([text]) == {str(text): digest("one")}


def test_a_flipped_bit_in_the_store_is_no_change_of_the_text(text):
    """It would redo all that is made from the text."""
    contents([text])
    content = KEPT.read_bytes()
    start = content.index(hashlib.sha256(b"one").hexdigest().encode())
    for place in range(start, start + 64, 9):
        damaged = bytearray(content)
        damaged[place] ^= 1
        KEPT.write_bytes(damaged)
        assert contents([text]) == {str(text): digest("one")}
    assert KEPT.read_bytes() == content


@pytest.mark.parametrize(
    "kept",
    [
        b"null", b"[]", b"5", b'"text"', b"\xff\xfe", b"", b"[" * 100_000,
        b'{"PATH": 3}', b'{"PATH": null}', b'{"PATH": []}', b'{"PATH": {}}', b'{"PATH": [1, 2]}', b'{"PATH": [1, "a"]}',
        b'{"PATH": [3, 0, 0, 0, null]}',
    ],
    ids=lambda kept: kept[:20].decode("latin-1"),
)  # fmt: skip
def test_a_store_of_another_shape_is_no_store(text, kept):
    KEPT.parent.mkdir()
    KEPT.write_bytes(kept.replace(b"PATH", str(text).encode()))
    assert contents([text]) == {str(text): digest("one")}
    assert list(read_sealed(KEPT)) == [str(text)]


def test_the_bar_of_what_takes_long_names_what_is_checked(text, monkeypatch, capsys):
    monkeypatch.setattr(module, "LONG", 0)
    contents(["text.txt"], "model smollm2")
    assert "checking model smollm2" in capsys.readouterr().err
    text.write_text("two")
    contents(["text.txt"])
    assert "checking text" in capsys.readouterr().err


def test_each_rule_says_what_its_files_are():
    """Only the rules of a text leave it to the default."""
    chapters = [
        path
        for path in (Path(__file__).resolve().parents[2] / "workflow").rglob("*.smk")
        if "contents(" in path.read_text()
    ]
    assert {path.name for path in chapters} >= {"assets.smk", "models.smk", "corpus.smk"}
    for path in chapters:
        for call in re.findall(r"contents\((.*)\),$", path.read_text(), flags=re.MULTILINE):
            of_text = "user_text" in call or "matching_files" in call
            assert bool(re.search(r', f?"[^"]+"$', call)) != of_text, call
