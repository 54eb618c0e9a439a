"""The cause of each failure of a run, from a log like Snakemake's."""

import logging

import pytest

from oversmoothing.run.failed import AGAIN, causes, last_words, says_more


def failed(job, told, log, more=""):
    """What Snakemake logs of a failed job."""
    said = f"    message: {told}\n" if told else ""
    logs = f"    log: {log}{more} (check log file(s) for error details)\n" if log else ""
    return f"Error in rule score:\n{said}    jobid: {job}\n    input: a.txt\n    output: b.txt\n{logs}Shutting down\n"


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        ("t INFO read\nt ERROR a.txt: empty\n", "a.txt: empty"),
        ("t ERROR of before\nt INFO again\nt ERROR a.txt: no space left\n", "a.txt: no space left"),
        ("t ERROR failed\nTraceback (most recent call last):\n  line\nKeyError: 'x'\n", "KeyError: 'x'"),
        ("t INFO step 3\n", "no message; its process may have been killed"),
    ],
)
def test_the_cause_is_what_the_log_says_last(tmp_path, log, cause):
    path = tmp_path / "score.log"
    path.write_text(log)
    assert causes(failed(1, "None", path)) == [f"score: {cause} (log: {path})"]


def test_of_a_job_on_a_cluster_it_is_what_slurm_says_as_well(tmp_path):
    path, told = tmp_path / "score.log", "SLURM-job '7' failed, SLURM status is: 'OUT_OF_MEMORY'."
    assert causes(failed(1, told, path, ", slurm.log")) == [f"score: {told} (log: {path}, slurm.log)"]
    path.write_text("t ERROR a.txt: empty\n")
    assert causes(failed(1, told, path)) == [f"score: a.txt: empty; {told} (log: {path})"]
    refused = "SLURM sbatch failed. The error message was 'invalid\npartition'.\n    sbatch call"
    assert causes(failed(1, refused, "")) == [f"score: {' '.join(refused.split())}"]


def test_a_job_that_is_started_again_counts_as_it_ends(tmp_path):
    one, two = (failed(job, "None", tmp_path / f"{job}.log") for job in (1, 2))
    assert len(causes(one + two + one)) == 2
    assert len(causes(one + two + "Finished jobid: 1 (Rule: score)\n")) == 1
    assert causes("[date]\nrule score:\n    jobid: 1\n") == []


def test_after_ctrl_c_it_says_how_to_go_on_and_blames_no_job_that_was_stopped(tmp_path):
    one, two = (failed(job, "None", tmp_path / f"{job}.log") for job in (1, 2))
    (tmp_path / "1.log").write_text("t ERROR a.txt: empty\n")
    (tmp_path / "2.log").write_text("t ERROR interrupted\n")
    stopped = "Terminating processes on user request, this might take some time.\n"
    assert last_words(stopped + two) == [AGAIN]
    assert "the same command goes on from here" in AGAIN
    why = f"Failed: score: a.txt: empty (log: {tmp_path / '1.log'})"
    assert last_words(one + stopped + two) == [why, AGAIN]
    assert last_words(one) == [why]


WALL = """RuleException:
CalledProcessError in file "/p/workflow/rules/corpus.smk", line 25:
Command 'set -euo pipefail;  python /p/.snakemake/scripts/tmp.build_corpus.py' {}."""


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (WALL.format("returned non-zero exit status 1"), False),
        (WALL.format("died with <Signals.SIGKILL: 9>"), True),  # which the job could not say
        (WALL.format("returned non-zero exit status 137"), True),
        ("WorkflowError:\nAt least one job did not complete successfully.", False),
        ("Exiting because a job execution failed. Look above for error messages", False),
        ("Failed: build_corpus: a.txt: empty (log: a.log)", True),
        ("WorkflowError:\nFailed to open source file", True),
    ],
)
def test_no_wall_stands_around_the_line_of_a_failed_job(said, kept):
    assert says_more(logging.LogRecord("snakemake", logging.ERROR, "", 0, said, (), None)) == kept
