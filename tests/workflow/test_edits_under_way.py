"""Code that is edited while a run is under way makes nothing: later jobs stop, and all is right once it is undone."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from study import TINY

SCORES = "results/scores/entropy_difference/bn4-s1337.parquet"
EDIT = """
from pathlib import Path as _Path

_module = _Path(__file__).parent / "oversmoothing/scores/catalogue/metrics.py"
_module.write_text(_module.read_text().replace("/ math.log(2)", "/ math.log(3)"))

if __name__"""
STOPPED = "Error: the code of score.py changed while the run was under way (the latest: "


@pytest.mark.slow
def test_jobs_that_start_after_an_edit_stop_and_leave_nothing_wrong(copy):
    """The edit is made by a job of the run itself, and undone after it."""
    catalogue = (copy.folder / "scripts/oversmoothing/scores/catalogue/metrics.py").read_text()
    right = (copy.folder / SCORES).read_bytes()
    back = copy.edit("scripts/logits.py", "\nif __name__", EDIT)
    output = copy.snakemake(SCORES, check=False)
    assert STOPPED in output
    assert "oversmoothing/scores/catalogue/metrics.py); run again" in output
    assert "Traceback" not in output
    assert not (copy.folder / SCORES).exists()
    (copy.folder / "scripts/oversmoothing/scores/catalogue/metrics.py").write_text(catalogue)
    back()
    copy.snakemake(SCORES)
    assert copy.planned(target=SCORES) == {}
    assert (copy.folder / SCORES).read_bytes() == right


def test_a_job_on_another_machine_stops_too(copy):
    """It reads config and code anew, and so must know what they were when the run was planned."""
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--configfile", TINY, "--mode", "remote", "--force"]
    command += ["--nolock", "--ignore-incomplete", "--target-jobs", "score:model=bn4-s1337", "--allowed-rules", "score"]

    def start(record):
        environment = {**os.environ, "OVERSMOOTHING_PLANNED": json.dumps(record)}
        done = subprocess.run(command, cwd=copy.folder, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    status, output = start({})
    assert status == 0, output
    status, output = start({"score.py": "of other code"})
    assert status != 0
    assert STOPPED in output
    status, output = start({"config": "of another config"})
    assert status != 0
    assert "the config changed while the run was under way; run again" in output
    assert "Traceback" not in output


def test_ctrl_c_is_one_line(copy):
    """In any job; a training saves first, which other tests see to."""
    copy.edit("scripts/score.py", "    settings = job.params.settings\n", "    while True:\n        pass\n")
    command = copy.command(SCORES)
    log = copy.folder / "results/logs/score/bn4-s1337.log"
    log.unlink()
    with subprocess.Popen(
        command,
        cwd=copy.folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell ignores it in the background
    ) as process:
        while not log.exists():  # it is opened once all is imported
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        output = process.communicate()[0]
    assert process.returncode != 0
    assert "Traceback" not in output
    assert re.search(r"ERROR interrupted$", log.read_text().strip())
