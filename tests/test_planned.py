"""A job's own Snakemake takes fingerprints from the one that planned the run, and accepts no other config."""

import os

import pytest

from oversmoothing.fingerprint import fingerprint
from plan import ConfigError
from tracking import planned


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv(planned.VARIABLE, "{}")


def test_the_one_that_plans_hands_on_what_the_code_was(monkeypatch):
    planned.begin({"seeds": [1]}, leads=True)
    code = planned.fingerprint("score.py")
    assert code == fingerprint("score.py")
    monkeypatch.setattr(planned.code, "fingerprint", lambda script: "of other code")
    planned.begin({"seeds": [1]}, leads=False)
    assert planned.fingerprint("score.py") == code
    planned.begin({"seeds": [1]}, leads=True)
    assert planned.fingerprint("score.py") == "of other code"


def test_a_job_accepts_no_other_config(monkeypatch):
    planned.begin({"seeds": [1], "device": "cpu"}, leads=True)
    planned.begin({"device": "cpu", "seeds": [1]}, leads=False)
    with pytest.raises(ConfigError, match="the config changed while the run was under way; run again"):
        planned.begin({"seeds": [2], "device": "cpu"}, leads=False)
    monkeypatch.delenv(planned.VARIABLE)  # where the environment is not passed on, nothing is known
    planned.begin({"seeds": [2], "device": "cpu"}, leads=False)


def test_jobs_import_the_library_beside_their_workflow_first(monkeypatch):
    for before, after in (("", "/own:/more"), ("/other", "/own:/more:/other"), ("/other:/own", "/own:/more:/other")):
        monkeypatch.setenv("PYTHONPATH", before)
        planned.import_first("/own", "/more")
        assert os.environ["PYTHONPATH"] == after
