"""How the errors of a script read: one clear line where the user can mend it, a traceback where we must."""

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from oversmoothing.jobs import UserError, explain, run


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
        (MemoryError(), "out of memory: lower the `batch` of `training`"),
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
    assert str(error).split("\n")[0] in logged or message in logged


def test_a_fault_of_ours_keeps_its_traceback_in_the_log(job):
    with pytest.raises(ZeroDivisionError):
        run(lambda _: 1 / 0, job)
    assert "ZeroDivisionError" in Path(job.log[0]).read_text()
    assert explain(ZeroDivisionError()) is None
