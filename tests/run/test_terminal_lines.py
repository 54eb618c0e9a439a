"""What a person sees of a run, on a terminal and in a file, from a stand-in of Snakemake that logs and runs jobs."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
RUN = """
import logging, os, signal, subprocess, sys
from oversmoothing.run import terminal
logger = logging.getLogger("run")
logger.setLevel(logging.INFO)
logger.addHandler(logging.StreamHandler())
signal.signal(signal.SIGINT, signal.default_int_handler)
terminal.ELSEWHERE = 0.1
terminal.follow(logger, ["score", "score"], 2, "a page")
logger.info("rule score:", extra=dict(event="job_info", jobid=1, rule_name="score", wildcards={}, log=[], threads=1))
job = "if [ -t 2 ]; then printf '\\\\r50%% ' >&2; fi; echo 'Error: a.txt: empty' >&2; printf 'cut off' >&2; sleep 0.3"
subprocess.run(["sh", "-c", job])
if sys.argv[1:] == ["ctrl-c"]:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        subprocess.run(["sh", "-c", "echo Traceback >&2"])
        error = dict(event="job_error", jobid=1, rule_name="score", rule_msg=None, log=[])
        logger.error("Error in rule score", extra=error)
        sys.exit(1)
logger.warning("mind the gap")
logger.info("done", extra=dict(event="job_finished", job_id=1))
logger.info("2 of 2", extra=dict(event="progress", done=2, total=2))
"""


def run(on_terminal, *arguments):
    """Return the exit status of the stand-in and what is seen of it."""
    ours, theirs = pty.openpty() if on_terminal else os.pipe()
    command = [sys.executable, "-c", RUN, *arguments]
    process = subprocess.Popen(command, stderr=theirs, env={**os.environ, "PYTHONPATH": str(SCRIPTS)})
    os.close(theirs)
    seen = b""
    try:
        while data := os.read(ours, 1 << 16):
            seen += data
    except OSError:  # the end of a terminal, on Linux
        pass
    os.close(ours)
    return process.wait(), seen.decode().replace("\r\n", "\n")


def test_a_file_gets_a_line_a_minute_and_what_jobs_and_warnings_say():
    status, seen = run(False)
    assert status == 0
    lines = seen.splitlines()
    assert {"Error: a.txt: empty", "cut off", "mind the gap"} <= set(lines)
    progress = [line for line in lines if re.match(r"\d\d:\d\d ", line)]
    assert progress[0][6:] == "0 of 2 steps · score"
    assert lines[-2:] == [progress[-1], "a page"]
    assert progress[-1][6:] == "2 of 2 steps"
    assert "rule score" not in seen
    assert "\x1b" not in seen


def test_jobs_draw_no_bars_over_the_line_of_a_terminal():
    status, seen = run(True)
    assert status == 0
    assert "50%" not in seen
    assert "\r\x1b[KError: a.txt: empty\n" in seen
    assert "\r\x1b[Kcut off\n" in seen
    assert "\r\x1b[K0 of 2 steps · score" in seen
    assert seen.endswith("\r\x1b[K2 of 2 steps\na page\n")


@pytest.mark.parametrize("on_terminal", [False, True])
def test_after_ctrl_c_there_is_one_line(on_terminal):
    status, seen = run(on_terminal, "ctrl-c")
    assert status == 1
    assert "Traceback" not in seen
    assert "Error in rule" not in seen
    assert "Failed" not in seen
    assert seen.splitlines()[-1].endswith("Interrupted after 0 of 2 steps; the same command goes on.")
