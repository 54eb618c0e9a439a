"""Start of the processes that train one model together, with a single outcome."""

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from oversmoothing.jobs import UserError
from oversmoothing.training.group import Group
from oversmoothing.training.loop import on_signals
from oversmoothing.training.task import Task, perform

logger = logging.getLogger(__name__)

SCRIPTS = Path(__file__).resolve().parents[2]


def launch(task: Task, processes: int) -> None:
    """Train in this process, or in several new ones on this machine, which all end if one fails.

    Each is ``python -m oversmoothing.training.task TASK.json``, numbered by torchrun's variables RANK, WORLD_SIZE and
    LOCAL_RANK. torchrun, or srun on several nodes, can therefore start the same module with its own rendezvous.
    """
    if processes == 1:
        perform(task, Group())
        return
    with TemporaryDirectory(prefix="oversmoothing-") as folder:
        path = Path(folder) / "task.json"
        path.write_text(json.dumps(asdict(task)), encoding="utf-8")
        command = [sys.executable, "-m", "oversmoothing.training.task", str(path), f"file://{folder}/rendezvous"]
        search = os.pathsep.join([str(SCRIPTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        started: list[subprocess.Popen[bytes]] = []

        def pass_on(signal_number: int) -> None:
            for process in started:
                process.send_signal(signal_number)  # they save and stop

        try:
            with on_signals(pass_on):
                for number in map(str, range(processes)):
                    place = {"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": str(processes)}
                    started.append(subprocess.Popen(command, env={**os.environ, **place, "PYTHONPATH": search}))
                _wait(started)
        finally:
            for process in started:
                process.kill()
                process.wait()
        if any(process.returncode for process in started):
            raise failure(Path(folder), [process.returncode for process in started])


def failure(folder: Path, statuses: Sequence[int]) -> Exception:
    """Return the error to raise for the processes' reports: the first `UserError`, or else the first failure."""
    paths = sorted(folder.glob("error-*.json"), key=lambda path: path.stat().st_mtime_ns)
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    for report in reports:
        if report["message"]:
            return UserError(report["message"])
    ended = ", ".join(f"process {number}: {status}" for number, status in enumerate(statuses))
    why = f"\n{reports[0]['traceback']}" if reports else "; none left a report (-9: out of memory, or killed)"
    return RuntimeError(f"a training process failed (exit statuses {ended}){why}")


def _wait(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """Wait until all have ended, or one has failed and the others have had a moment to report their errors."""
    while all(code in (None, 0) for code in [process.poll() for process in started]):
        if all(process.returncode == 0 for process in started):
            return
        time.sleep(0.1)
    limit = time.monotonic() + 2
    while time.monotonic() < limit and any(process.poll() is None for process in started):
        time.sleep(0.1)
