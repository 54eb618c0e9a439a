"""`oversmoothing run`: Snakemake with one line of progress."""

import os
import pty
import re
import subprocess
import sys

import pytest

from oversmoothing.commands import run

SNAKEMAKE = """
import sys
print("Provided cores: 2")
print("Job stats:\\njob    count\\n-----  -------\\nscore        1\\ntotal        1\\n")
print("localrule score:\\n    jobid: 0\\n    wildcards: model=bn4\\n", flush=True)
if "fail" in sys.argv:
    sys.exit("Error: corpus.paths: no file matches nothing.txt")
print("Finished jobid: 0 (Rule: score)\\n1 of 1 steps (100%) done")
"""


@pytest.fixture
def folder(tmp_path):
    """A folder in which `python -m snakemake` prints what Snakemake would."""
    (tmp_path / "snakemake.py").write_text(SNAKEMAKE)
    return tmp_path


def on_a_terminal(folder, *arguments):
    """Return the exit status and what a terminal gets."""
    ours, theirs = pty.openpty()
    call = f"import sys; from oversmoothing.commands import main; sys.exit(main({['run', *arguments]!r}))"
    command = [sys.executable, "-c", call]
    path = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run(command, stdout=theirs, stderr=theirs, cwd=folder, env={**os.environ, "PYTHONPATH": path})
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 1 << 16):
            text += part
    except OSError:  # the end, on Linux
        pass
    os.close(ours)
    return done.returncode, text.decode()


def test_a_terminal_gets_one_line_and_the_log_the_rest(folder):
    status, text = on_a_terminal(folder, "--cores", "2")
    assert status == 0
    assert text.endswith("\r\x1b[K1 of 1 steps · a moment left\r\n")
    assert text.count("\n") == 1
    log = (folder / run.LOG).read_text()
    assert "Finished jobid: 0" in log
    assert "Provided cores: 2" in log


def test_after_an_error_its_end_is_shown(folder):
    status, text = on_a_terminal(folder, "fail")
    assert status == 1
    shown = re.sub(r"\x1b\[K|\r", "", text)
    assert "Error: corpus.paths: no file matches nothing.txt" in shown
    assert f"All that was printed: {run.LOG}" in shown


def test_elsewhere_snakemake_runs_as_it_is(folder, monkeypatch, capfd):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    assert run.main(["--cores", "2"]) == 0
    assert "Finished jobid: 0" in capfd.readouterr().out
    assert not (folder / run.LOG).exists()
