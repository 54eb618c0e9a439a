"""How the errors of a script read: one clear line where the user can mend it, a traceback where we must."""

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from oversmoothing import fingerprint as code
from oversmoothing import jobs
from oversmoothing.fingerprint import SCRIPTS, fingerprint
from oversmoothing.jobs import UserError, explain, run
from oversmoothing.scores.decoding import decoder
from oversmoothing.store.identity import name_of

SCORE = str(SCRIPTS / "score.py")


@pytest.fixture
def job(tmp_path):
    yield SimpleNamespace(log=[str(tmp_path / "rule.log")])
    logging.getLogger().handlers.clear()


def raiser(error):
    def main(_):
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UserError("text.txt: not UTF-8"), "Error: text.txt: not UTF-8"),
        (PermissionError(13, "Permission denied", "a.csv"), "Error: a.csv: permission denied; give yourself the right"),
        (OSError(5, "Input/output error"), "Error: a file or device: input/output error; check the disk or the"),
        (torch.OutOfMemoryError("CUDA out of memory"), "out of memory: lower the `batch` of `training`"),
    ],
)
def test_what_the_user_can_mend_is_one_line_and_exit_status_1(job, capsys, error, message):
    with pytest.raises(SystemExit) as stopped:
        run(raiser(error), job)
    assert stopped.value.code == 1
    printed = capsys.readouterr().err
    assert message in printed
    assert "Traceback" not in printed
    assert job.log[0] in printed
    logged = Path(job.log[0]).read_text()
    assert str(error).split("\n")[0] in logged or message.removeprefix("Error: ") in logged


def test_a_fault_of_ours_keeps_its_traceback_in_the_log(job):
    with pytest.raises(ZeroDivisionError):
        run(lambda _: 1 / 0, job)
    assert "ZeroDivisionError" in Path(job.log[0]).read_text()
    assert explain(ZeroDivisionError()) is None


def test_ctrl_c_is_one_line_and_the_status_of_an_interrupt(job, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(raiser(KeyboardInterrupt()), job)
    assert stopped.value.code == 130
    assert Path(job.log[0]).read_text().endswith("ERROR interrupted\n")
    assert capsys.readouterr().err == ""


def test_a_script_run_by_hand_says_what_runs_it(capsys):
    with pytest.raises(SystemExit) as stopped:
        run(eval("lambda job: None", {"__file__": SCORE}))
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "score.py is a step of the workflow, which Snakemake runs: snakemake --cores 2\n"


def test_other_code_than_the_planned_one_does_not_run(job, capsys):
    ran = []
    main = eval("lambda job: ran.append(job)", {"__file__": SCORE, "ran": ran})
    job.params = SimpleNamespace(code=fingerprint("score.py"))
    run(main, job)
    assert ran == [job]
    job.params.code = "of another day"
    with pytest.raises(SystemExit) as stopped:
        run(main, job)
    assert stopped.value.code == 1
    assert "the code of score.py changed while the run was under way (the latest: " in capsys.readouterr().err
    assert ran == [job]


def test_a_job_parses_no_code_that_its_plan_has_read(job, tmp_path, monkeypatch):
    main = eval("lambda job: None", {"__file__": SCORE})
    job.params = SimpleNamespace(code=fingerprint("score.py"))
    monkeypatch.chdir(tmp_path)
    code.KEPT.parent.mkdir()
    code.KEPT.write_bytes(code.stamped(code.READ))
    code._read.cache_clear()
    code.KNOWN.clear()
    monkeypatch.setattr(code, "_parse", lambda path, *_: pytest.fail(f"parsed {path}"))
    run(main, job)


def test_a_job_imports_by_name_only_what_its_rule_has_the_fingerprint_of(job, capsys):
    """Whatever else it would import could change unnoticed."""
    top_p, eta = "oversmoothing/scores/decodings/top_p.py", "oversmoothing/scores/decodings/eta.py"
    main = eval("lambda job: decoder(job.settings)", {"__file__": SCORE, "decoder": decoder})
    job.settings = {"name": "top-p", "p": 0.5}
    job.params = SimpleNamespace(code=fingerprint("score.py"), by_name={top_p: fingerprint(top_p)})
    run(main, job)
    job.params.by_name = {eta: fingerprint(eta)}
    with pytest.raises(RuntimeError, match=r"decodings\.top_p is imported by name, but params\.by_name"):
        run(main, job)
    job.params.by_name = {top_p: "of another day"}
    with pytest.raises(SystemExit):
        run(main, job)
    assert (
        "the code of oversmoothing/scores/decodings/top_p.py changed while the run was under way"
        in capsys.readouterr().err
    )
    assert decoder({"name": "eta", "epsilon": 0.001})  # outside a job everything may be imported


def test_the_doors_of_files_know_the_running_job_and_no_other(job, monkeypatch):
    monkeypatch.setattr(jobs, "asked", {"outputs": {"a.parquet": "a.parquet"}})
    seen = []
    job.params = SimpleNamespace(asked={"outputs": {"results/b.parquet": "b.parquet"}})
    run(lambda job: seen.extend(map(name_of, ("a.parquet", "results/b.parquet"))), job)
    assert seen == [None, "b.parquet"]


ARRAYS = """
import sys
from types import SimpleNamespace
import numpy as np
import pyarrow as pa
{first}
from oversmoothing.jobs import run

def main(_):
    table = pa.table({{"a": pa.array(np.array([1.0, np.nan]), from_pandas=True), "b": ["x", None]}})
    print("pandas" in sys.modules, table["a"].null_count)
    frame = table.to_pandas()
    print("pandas" in sys.modules, frame.b.isna().sum(), pa.array(frame.a).null_count)

run(main, SimpleNamespace(log=[]))
"""


@pytest.mark.parametrize(("first", "loaded"), [("", False), ("import pandas", True)])
def test_pandas_is_imported_only_where_a_job_takes_it(first, loaded):
    command = [sys.executable, "-c", ARRAYS.format(first=first)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"{loaded} 1", "True 1 1"], done.stderr
