"""Code that is edited while a run is under way makes nothing: later jobs stop, and all is right once it is undone."""

import json
import os
import re
import signal
import subprocess
import time

SCORES = "results/scores/entropy_difference/bn4-s1337.parquet"
STOPPED = "Error: the code of score.py changed while the run was under way (the latest: "


def test_a_job_on_another_machine_stops_too(copy, monkeypatch):
    """It reads config and code anew, and so must know what they were when the run was planned."""
    job = [
        "--nolock",
        "--ignore-incomplete",
        "--target-jobs",
        "score:text=,model=bn4-s1337",
        "--allowed-rules",
        "score",
    ]
    monkeypatch.setenv("OVERSMOOTHING_PLANNED", json.dumps({"score.py": "of other code"}))
    output = copy.snakemake("", options=["--mode", "remote", "--force", *job], check=False)
    assert STOPPED in output
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
