"""Faults put into a copy of the code, each of which some test must notice.

The list began with a campaign of random edits: those that no test noticed got a test of their own, and stand here with
it. Whoever mends a fault that no test noticed adds it to `faults.yaml`, or to that of the study whose code it is.
"""

import shutil
import signal
import subprocess
import sys
from functools import partial

import pytest
import yaml
from study import ROOT

FAULTS = {}
for listed in [ROOT / "tests/reliability/faults.yaml", *sorted(ROOT.glob("tests/studies/*/faults.yaml"))]:
    FAULTS |= yaml.safe_load(listed.read_text())


def test_every_fault_is_of_code_and_of_a_test_that_are_there():
    for fault, (path, old, _, test) in FAULTS.items():
        assert old in (ROOT / path).read_text(), fault
        file, _, name = test.partition("::")
        assert not name or f"def {name}(" in (ROOT / "tests" / file).read_text(), fault


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(tmp_path, fault):
    path, old, new, test = FAULTS[fault]
    for name in ("workflow", "scripts", "config", "resources", "envs", "slurm", "docs", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", ".snakemake"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / path).write_text((ROOT / path).read_text().replace(old, new))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slurm", f"tests/{test}"]
    default = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell ignores it in the background
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=default)
    assert "FAILED" in done.stdout or "KeyboardInterrupt" in done.stdout, done.stdout
