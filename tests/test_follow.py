"""The line of progress of a run."""

import pytest

from oversmoothing.follow import Follower, in_words

PLAN = """Provided cores: 2
Rules claiming more threads will be scaled down.
Job stats:
job             count
------------  -------
train               3
train_truth         1
score               2
total               6
"""
JOB = """
[Sun Nov 22 05:28:41 2026]
localrule {rule}:
    input: results/corpus/train.bin
    log: {log}
    jobid: {number}
    wildcards: {wildcards}
    resources: tmpdir=/tmp
"""
FINISHED = """[Sun Nov 22 05:29:41 2026]
Finished jobid: {number} (Rule: {rule})
{done} of 6 steps (17%) done
"""


@pytest.fixture
def study(tmp_path):
    """A run whose clock stands still until a test moves it."""
    return Study(tmp_path)


class Study:
    def __init__(self, folder):
        self.folder = folder
        self.now = 0.0
        self.follower = Follower(lambda: self.now)

    def reads(self, text):
        for line in text.splitlines(keepends=True):
            self.follower.read(line)

    def starts(self, rule, number, model):
        log = self.folder / f"{model}.log"
        self.reads(JOB.format(rule=rule, number=number, wildcards=f"model={model}", log=log))
        return log

    def finishes(self, rule, number, done):
        self.reads(FINISHED.format(rule=rule, number=number, done=done))

    @property
    def line(self):
        return self.follower.line()


def test_before_the_plan(study):
    assert study.line == "planning ..."


def test_a_training_shows_its_step_and_loss_and_gives_the_time_left(study):
    study.reads(PLAN)
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
    study.reads(PLAN)
    study.starts("train", 13, "bn4-s1337")
    study.starts("train_truth", 7, "truth")
    study.now = 80.0
    study.finishes("train", 13, 1)
    study.starts("train", 14, "bn8-s1337")
    study.now = 100.0
    # 60 s of the second, 80 s of the third, nothing of the truth, which has outlasted them, and two scores.
    assert study.follower.seconds_left() == pytest.approx((60 + 80 + 0 + 2 * 5) / 2)
    assert study.line == "1 of 6 steps · train truth truth, train bn8-s1337 · about 80 s left"


def test_at_the_end_there_is_a_moment_left(study):
    study.reads(PLAN)
    for number, (rule, model) in enumerate(
        [("train", "a"), ("train", "b"), ("train", "c"), ("train_truth", "t"), ("score", "a"), ("score", "b")]
    ):
        study.starts(rule, number, model)
        study.now += 10
        study.finishes(rule, number, number + 1)
    assert study.line == "6 of 6 steps · a moment left"


def test_a_job_that_failed_no_longer_runs_and_may_start_again(study):
    study.reads(PLAN)
    study.starts("train", 13, "bn4-s1337")
    study.starts("train_truth", 7, "truth")
    study.reads(
        "[Sun Nov 22 05:29:41 2026]\n"
        "Error in rule train:\n"
        "    message: None\n"
        "    jobid: 13\n"
        "    output: results/models/bn4-s1337/weights.safetensors\n"
        "    log: results/logs/train/bn4-s1337.log (check log file(s) for error details)\n"
        "Trying to restart job 13.\n"
    )
    assert study.line == "0 of 6 steps · train truth truth"
    assert study.follower.waiting["train"] == 3
    study.starts("train", 13, "bn4-s1337")
    assert study.line == "0 of 6 steps · train truth truth, train bn4-s1337"
    assert study.follower.waiting["train"] == 2


def test_nothing_is_promised_before_a_training_shows_its_speed(study):
    study.reads(PLAN)
    study.starts("score", 1, "other")
    study.now = 3.0
    study.finishes("score", 1, 1)
    assert study.follower.seconds_left() is None
    study.starts("train", 13, "bn4-s1337")
    assert study.line == "1 of 6 steps · train bn4-s1337"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "a moment"),
        (12, "about 10 s"),
        (89, "about 90 s"),
        (91, "about 2 min"),
        (9000, "about 2.5 h"),
    ],
)
def test_in_words(seconds, words):
    assert in_words(seconds) == words
