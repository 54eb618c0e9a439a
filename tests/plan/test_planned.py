"""A job's own Snakemake takes fingerprints from the one that planned the run, and accepts no other config."""

import os
from pathlib import Path

import pytest

from oversmoothing import fingerprint as code
from oversmoothing.fingerprint import fingerprint
from plan import ConfigError
from tracking import planned


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv(planned.VARIABLE, "{}")


def test_the_one_that_plans_hands_on_what_the_code_was(monkeypatch):
    planned.begin({"seeds": [1]}, leads=True)
    digest = planned.fingerprint("score.py")
    assert digest == fingerprint("score.py")
    monkeypatch.setattr(planned.code, "fingerprint", lambda script: "of other code")
    planned.begin({"seeds": [1]}, leads=False)
    assert planned.fingerprint("score.py") == digest
    planned.begin({"seeds": [1]}, leads=True)
    assert planned.fingerprint("score.py") == "of other code"


def test_a_job_accepts_no_other_config(monkeypatch):
    planned.begin({"seeds": [1], "device": "cpu"}, leads=True)
    planned.begin({"device": "cpu", "seeds": [1]}, leads=False)
    with pytest.raises(ConfigError, match="the config changed while the run was under way; run again"):
        planned.begin({"seeds": [2], "device": "cpu"}, leads=False)
    monkeypatch.delenv(planned.VARIABLE)  # where the environment is not passed on, nothing is known
    planned.begin({"seeds": [2], "device": "cpu"}, leads=False)


def test_the_one_that_plans_reads_the_text_once_and_jobs_never():
    read = []

    def contents():
        read.append(1)
        return {"/home/b.txt": "2 bytes", "/home/a.txt": "1 bytes"}

    planned.begin({}, leads=False)
    assert planned.text(contents) == {}
    planned.begin({}, leads=True)
    stated = planned.text(contents)
    assert planned.text(contents) == stated
    assert read == [1]
    planned.begin({}, leads=True)
    assert planned.text(lambda: {"a.txt": "2 bytes", "b.txt": "1 bytes"}) == stated
    planned.begin({}, leads=True)
    assert planned.text(lambda: {"a.txt": "3 bytes", "b.txt": "1 bytes"}) not in (stated, {})
    planned.begin({}, leads=True)
    assert planned.text(dict) == {}


def test_jobs_import_the_library_beside_their_workflow_first(monkeypatch):
    monkeypatch.setenv(code.FOLDERS, "")
    for before, after in (("", "/own:/more"), ("/other", "/own:/more:/other"), ("/other:/own", "/own:/more:/other")):
        monkeypatch.setenv("PYTHONPATH", before)
        planned.import_first("/own", "/more")
        assert os.environ["PYTHONPATH"] == after
        assert code.folders() == (code.SCRIPTS, Path("/own"), Path("/more"))


@pytest.fixture
def plan(monkeypatch, tmp_path):
    """Plan in a new process, as far as the code that it reads goes; return a fingerprint and the files it parses."""
    monkeypatch.chdir(tmp_path)
    parse, parsed = code._parse, []
    monkeypatch.setattr(code, "_parse", lambda path, *rest: parsed.append(path.name) or parse(path, *rest))

    def run(folder):
        code._read.cache_clear()
        code.KNOWN.clear()
        code.READ.clear()
        parsed.clear()
        planned.begin({}, leads=True)
        found = code.fingerprint("a.py", folder)
        planned.keep()
        return found, sorted(parsed)

    yield run
    code._read.cache_clear()


def flipped(text, digest):
    """Flip the last bit of a digest of code, which leaves another digest."""
    return text.replace(digest, digest[:-1] + chr(ord(digest[-1]) ^ 1))


def test_a_plan_parses_what_the_one_before_has_not(plan, tmp_path, monkeypatch):
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "a.py").write_text("import b\n")
    (folder / "b.py").write_text("x = 1\n")
    before, parsed = plan(folder)
    assert parsed == ["a.py", "b.py"]
    assert plan(folder) == (before, [])
    (folder / "b.html").write_text("<p>")  # the template of a page
    template, parsed = plan(folder)
    assert (template != before, parsed) == (True, ["b.py"])
    (folder / "b.html").unlink()
    (folder / "b.py").write_text("x = 2\n")
    after, parsed = plan(folder)
    assert (after != before, parsed) == (True, ["b.py"])
    for damage in ("", "[]", *(flipped(code.KEPT.read_text(), digest) for digest, _ in code.READ.values())):
        code.KEPT.write_text(damage)
        assert plan(folder) == (after, ["a.py", "b.py"])
        assert plan(folder) == (after, [])
    monkeypatch.setattr(code, "_stamp", lambda body: b"of another version of the module")
    assert plan(folder) == (after, ["a.py", "b.py"])
