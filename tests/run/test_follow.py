"""The line of progress of a run, from records like those that Snakemake logs."""

import os
from datetime import datetime, timedelta
from logging import INFO, makeLogRecord

import pytest

from oversmoothing.run.follow import Follower, in_words

BEGUN = datetime(2026, 1, 1).timestamp()
PLAN = ["train"] * 3 + ["train_truth"] + ["score"] * 2


class Study:
    """A run whose clock stands still until a test moves it."""

    def __init__(self, folder, cores=2):
        self.folder = folder
        self.now = BEGUN
        self.follower = Follower(PLAN, cores, lambda: self.now)

    def logs(self, event, **values):
        self.follower.read(makeLogRecord({"levelno": INFO, "event": event, **values}))

    def starts(self, rule, number, model, threads=1):
        log = self.folder / f"{model}.log"
        values = {"wildcards": {"model": model}, "log": [str(log)], "threads": threads}
        self.logs("job_info", rule_name=rule, jobid=number, **values)
        return log

    def finishes(self, number, done):
        self.logs("job_finished", job_id=number)
        self.logs("progress", done=done, total=6)

    def fails(self, number, told=None, log=""):
        self.logs("job_error", jobid=number, rule_msg=told, log=[log])

    @property
    def line(self):
        return self.follower.line()


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path)


def evaluated(log, *evaluations, steps=900):
    """Write a training's log with its evaluations: seconds since the beginning, and steps."""
    lines = [
        f"{datetime(2026, 1, 1) + timedelta(seconds=after)},000 INFO step {step} of {steps}: training loss 2.1, "
        f"validation loss 2.0384 (best 2.0384 at step {step})\n"
        for after, step in evaluations
    ]
    log.write_text("".join(lines))


def test_a_training_shows_its_step_and_loss_and_gives_the_time_left(study):
    assert study.line == "0 of 6 steps"
    log = study.starts("train", 13, "bn4-s1337")
    assert study.line == "0 of 6 steps · train bn4-s1337"
    study.now += 40
    evaluated(log, (10, 0), (40, 450))
    # This training, which began after 10 s, has 30 s left, two more and the truth take 70 s each, the scores 5 s each
    # until one is measured: 250 s on two cores.
    assert study.follower.seconds_left() == pytest.approx((30 + 2 * 70 + 70 + 2 * 5) / 2)
    assert study.line == "0 of 6 steps · about 2 min left · train bn4-s1337 (step 450 of 900, loss 2.04)"
    study.now += 12
    assert study.follower.seconds_left() == pytest.approx((18 + 2 * 70 + 70 + 2 * 5) / 2)


def test_the_longest_of_the_running_jobs_is_waited_for(study):
    """Others that are done sooner leave its cores idle: 300 s are left of the truth, whatever trainings took before."""
    for number in (13, 14, 15):
        study.starts("train", number, f"bn{number}-s1337")
        study.now += 2
        study.finishes(number, number - 12)
    log = study.starts("train_truth", 7, "truth")
    study.now += 60
    evaluated(log, (6, 0), (36, 50), (66, 100), steps=600)
    assert study.follower.seconds_left() == pytest.approx(300)
    assert study.line == "3 of 6 steps · about 5 min left · train truth truth (step 100 of 600, loss 2.04)"


def test_a_resumed_training_is_timed_from_where_it_resumed(study):
    log = study.starts("train_truth", 7, "truth")
    evaluated(log, (10, 800))
    study.now += 10
    assert study.follower.seconds_left() is None, "from its start alone it would have a moment left"
    evaluated(log, (10, 800), (60, 850))
    study.now += 50
    assert study.follower.running[7].rest(study.now) == pytest.approx(50)
    evaluated(log, (10, 800), (60, 850), (90, 0))
    assert study.follower.running[7].rest(study.now) is None


def test_a_log_of_before_says_nothing_of_this_start(study):
    log = study.folder / "bn4-s1337.log"
    evaluated(log, (-90, 800), (-60, 900))
    os.utime(log, (BEGUN - 60, BEGUN - 60))
    study.starts("train", 13, "bn4-s1337")
    assert study.line == "0 of 6 steps · train bn4-s1337"


def test_a_job_on_all_cores_takes_the_time_of_all(study):
    study.starts("train", 13, "bn4-s1337", threads=8)
    study.now += 60
    study.finishes(13, 1)
    assert study.follower.seconds_left() == pytest.approx(2 * 60 + (60 + 2 * 5) / 2)


def test_finished_jobs_are_measured(study):
    study.starts("train", 13, "bn4-s1337")
    study.starts("train_truth", 7, "truth")
    study.now += 80
    study.finishes(13, 1)
    study.starts("train", 14, "bn8-s1337")
    study.now += 20
    # 60 s of the second, 80 s of the third, nothing of the truth, which has outlasted them, and two scores.
    assert study.follower.seconds_left() == pytest.approx((60 + 80 + 0 + 2 * 5) / 2)
    assert study.line == "1 of 6 steps · about 80 s left · train truth truth, train bn8-s1337"
    assert study.follower.line(ended=True) == "1 of 6 steps · train truth truth, train bn8-s1337"
    study.now += 61
    assert study.follower.seconds_left() is None, "nobody knows of a truth that takes twice as long as they did"


def test_jobs_on_nodes_of_their_own_share_no_cores(tmp_path):
    study = Study(tmp_path, cores=None)
    study.starts("train", 13, "bn4-s1337")
    study.now += 60
    study.finishes(13, 1)
    for number in (14, 15):
        study.starts("train", number, f"bn{number}-s1337")
    study.starts("train_truth", 7, "truth")
    assert study.follower.seconds_left() == pytest.approx((60 + 60 + 60 + 2 * 5) / 3)


def test_at_the_end_nothing_is_left(study):
    for number, rule in enumerate(PLAN):
        study.starts(rule, number, f"m{number}")
        study.now += 10
        study.finishes(number, number + 1)
    assert study.line == "6 of 6 steps"


def test_a_job_that_failed_no_longer_runs_and_may_start_again(study):
    study.starts("train", 13, "bn4-s1337").write_text("2026 ERROR corpus.paths: no file\n")
    study.starts("train_truth", 7, "truth")
    study.fails(13)
    assert study.line == "0 of 6 steps · train truth truth"
    assert study.follower.waiting["train"] == 3
    assert study.follower.causes() == [f"train bn4-s1337: corpus.paths: no file (log: {study.folder}/bn4-s1337.log)"]
    study.starts("train", 13, "bn4-s1337")
    assert study.line == "0 of 6 steps · train truth truth, train bn4-s1337"
    assert study.follower.waiting["train"] == 2
    study.finishes(13, 1)
    assert study.follower.causes() == []


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        ("t INFO read\nt ERROR a.txt: empty\n", "a.txt: empty"),
        ("t ERROR of before\nt INFO again\nt ERROR a.txt: no space left\n", "a.txt: no space left"),
        ("t ERROR failed\nTraceback (most recent call last):\n  line\nKeyError: 'x'\n", "KeyError: 'x'"),
        ("t INFO step 3\n", "no message; its process may have been killed"),
        (None, "no message; its process may have been killed"),
    ],
)
def test_the_cause_is_what_the_log_says_last(study, log, cause):
    path = study.starts("score", 1, "a")
    if log is not None:
        path.write_text(log)
    study.fails(1)
    assert study.follower.causes() == [f"score a: {cause}" + (f" (log: {path})" if log else "")]


SBATCH = (
    "SLURM sbatch failed. The error message was 'sbatch: error: invalid partition specified: gpus\n"
    "sbatch: error: Batch job submission failed: Invalid partition name specified'.\n    sbatch call:\n        sbatch\n"
)
FAILED = "SLURM-job '7' failed, SLURM status is: 'OUT_OF_MEMORY'. Reason: OutOfMemory."


@pytest.mark.parametrize(
    ("told", "log", "cause"),
    [
        (
            SBATCH,
            "t ERROR of the start before\n",
            "sbatch: error: invalid partition specified: gpus; "
            "sbatch: error: Batch job submission failed: Invalid partition name specified",
        ),
        (FAILED, "t ERROR a.txt: empty\n", "a.txt: empty (log: {own})"),
        (FAILED, "t INFO step 3\n", FAILED + " (log: {slurm})"),
        (
            "Job submission failed with exception: no room\nleft",
            None,
            "Job submission failed with exception: no room left",
        ),
    ],
)
def test_of_a_job_on_a_cluster_the_cause_is_what_its_log_or_slurm_says(study, told, log, cause):
    path, slurm = study.starts("score", 1, "a"), study.folder / "slurm.log"
    if log:
        path.write_text(log)
        slurm.touch()
    study.fails(1, told, str(slurm))
    assert study.follower.causes() == ["score a: " + cause.format(own=path, slurm=slurm)]


def test_a_job_without_log_and_model(study):
    study.logs("job_info", rule_name="all", jobid=0, wildcards={}, log=[], threads=1)
    assert study.line == "0 of 6 steps · all"
    study.fails(0)
    assert study.follower.causes() == ["all: no message; its process may have been killed"]


def test_nothing_is_promised_before_a_training_shows_its_speed(study):
    study.starts("score", 1, "other")
    study.now += 3
    study.finishes(1, 1)
    assert study.follower.seconds_left() is None
    study.starts("train", 13, "bn4-s1337")
    assert study.line == "1 of 6 steps · train bn4-s1337"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "a moment"), (12, "about 10 s"), (89, "about 90 s"), (91, "about 2 min"), (9000, "about 2.5 h")],
)
def test_in_words(seconds, words):
    assert in_words(seconds) == words
