"""The line of progress of a run, from records like those that Snakemake logs."""

from logging import INFO, makeLogRecord

import pytest

from oversmoothing.run.follow import Follower, in_words

PLAN = ["train"] * 3 + ["train_truth"] + ["score"] * 2


class Study:
    """A run whose clock stands still until a test moves it."""

    def __init__(self, folder, cores=2):
        self.folder = folder
        self.now = 0.0
        self.follower = Follower(PLAN, cores, lambda: self.now)

    def logs(self, event, **values):
        self.follower.read(makeLogRecord({"levelno": INFO, "event": event, **values}))

    def starts(self, rule, number, model):
        log = self.folder / f"{model}.log"
        self.logs("job_info", rule_name=rule, jobid=number, wildcards={"model": model}, log=[str(log)])
        return log

    def finishes(self, number, done):
        self.logs("job_finished", job_id=number)
        self.logs("progress", done=done, total=6)

    def fails(self, number):
        self.logs("job_error", jobid=number)

    @property
    def line(self):
        return self.follower.line()


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path)


def test_a_training_shows_its_step_and_loss_and_gives_the_time_left(study):
    assert study.line == "0 of 6 steps"
    log = study.starts("train", 13, "bn4-s1337")
    assert study.line == "0 of 6 steps · train bn4-s1337"
    study.now = 30.0
    log.write_text(
        "2026 INFO step 0 of 900: training loss -, validation loss 5.9\n"
        "2026 INFO step 450 of 900: training loss 2.1, validation loss 2.0384 (best 2.0384 at step 450)\n"
    )
    # This training has 30 s left, two more and the truth take 60 s each, the scores 5 s each until one is measured:
    # 220 s on two cores.
    assert study.follower.seconds_left() == pytest.approx((30 + 2 * 60 + 60 + 2 * 5) / 2)
    assert study.line == "0 of 6 steps · train bn4-s1337 (step 450 of 900, loss 2.04) · about 2 min left"


def test_finished_jobs_are_measured(study):
    study.starts("train", 13, "bn4-s1337")
    study.starts("train_truth", 7, "truth")
    study.now = 80.0
    study.finishes(13, 1)
    study.starts("train", 14, "bn8-s1337")
    study.now = 100.0
    # 60 s of the second, 80 s of the third, nothing of the truth, which has outlasted them, and two scores.
    assert study.follower.seconds_left() == pytest.approx((60 + 80 + 0 + 2 * 5) / 2)
    assert study.line == "1 of 6 steps · train truth truth, train bn8-s1337 · about 80 s left"


def test_jobs_on_nodes_of_their_own_share_no_cores(tmp_path):
    study = Study(tmp_path, cores=None)
    study.starts("train", 13, "bn4-s1337")
    study.now = 60.0
    study.finishes(13, 1)
    for number in (14, 15):
        study.starts("train", number, f"bn{number}-s1337")
    study.starts("train_truth", 7, "truth")
    assert study.follower.seconds_left() == pytest.approx((60 + 60 + 60 + 2 * 5) / 3)


def test_at_the_end_there_is_a_moment_left(study):
    for number, rule in enumerate(PLAN):
        study.starts(rule, number, f"m{number}")
        study.now += 10
        study.finishes(number, number + 1)
    assert study.line == "6 of 6 steps · a moment left"


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
    assert study.follower.causes() == [f"score a: {cause} (log: {path})"]


def test_a_job_without_log_and_model(study):
    study.logs("job_info", rule_name="all", jobid=0, wildcards={}, log=[])
    assert study.line == "0 of 6 steps · all"
    study.fails(0)
    assert study.follower.causes() == ["all: no message; its process may have been killed (log: )"]


def test_nothing_is_promised_before_a_training_shows_its_speed(study):
    study.starts("score", 1, "other")
    study.now = 3.0
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
