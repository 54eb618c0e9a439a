"""Shares of a run by the expected time of its jobs, with a clock of the test's own."""

import pytest

from oversmoothing.run.pace import ALMOST, PERIOD, Job, Pace, clocked, in_words, reported_in


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def run(clock, jobs, cores=2):
    """A pace of jobs, each a rule with expected seconds and further facts."""
    return Pace({i: Job(*job) for i, job in enumerate(jobs)}, cores, clock)


def test_a_job_weighs_what_it_is_expected_to_take(clock):
    """Of 5 jobs 4 ended: 80 % by number, 4 % by time."""
    pace = run(clock, [*[("train", 10.0)] * 4, ("byte_logits", 960.0)])
    for job in range(4):
        pace.begin(job)
        pace.end(job)
    assert pace.share() == pytest.approx(0.04)
    assert (pace.share("train"), pace.share("byte_logits")) == (1, 0)
    assert (pace.count(), pace.count("train")) == ((4, 5), (4, 4))


def test_a_job_under_way_counts_by_what_its_log_says_or_else_by_the_clock(clock, tmp_path):
    log = tmp_path / "a.log"
    pace = run(clock, [("byte_logits", 100.0, 1, str(log)), ("score", 50.0, 2)])
    pace.begin(0)
    pace.begin(1)
    clock.now += 10
    assert pace.share("byte_logits") == pytest.approx(0.1)
    assert pace.share("score") == pytest.approx(0.4)  # on two processors
    log.write_text("t INFO step 5 of 4,000\nt INFO window 25 of 100\n")
    clock.now += 10
    assert pace.told("byte_logits") == "window 25 of 100"
    assert pace.share("byte_logits") == 0.25
    clock.now += 1000
    assert pace.share("score") == ALMOST
    pace.end(0)
    pace.end(1, failed=True)
    assert (pace.share("byte_logits"), pace.share("score")) == (1, 0)
    pace.begin(1)  # again
    pace.end(1)
    assert pace.share() == 1


def test_a_rule_took_from_its_own_beginning_to_its_own_end(clock):
    """And not from the beginning of the run, nor until now."""
    pace = run(clock, [("train", 10.0), ("score", 10.0), ("score", 10.0)])
    pace.begin(0)
    clock.now += 300
    pace.end(0)
    pace.begin(1)
    clock.now += 4
    pace.end(1)
    clock.now += 1
    assert (pace.took("train"), pace.took("score"), pace.took("table")) == (300, 5, 0)
    pace.begin(2)
    clock.now += 2
    pace.end(2)
    clock.now += 1000
    assert pace.took("score") == 7
    assert pace.took() == 307


def test_time_left_is_as_expected_at_first_and_then_as_measured(clock, tmp_path):
    log = tmp_path / "a.log"
    pace = run(clock, [("train", 1000.0), ("train", 1000.0)])
    assert pace.left() == pytest.approx(1000)  # on two cores
    pace.begin(0)
    clock.now += 4000  # four times as long as expected
    pace.end(0)
    assert 3000 < pace.left() < 4500
    pace = run(clock, [("byte_logits", 1000.0, 1, str(log))], cores=8)
    pace.begin(0)
    log.write_text("window 10 of 100\n")
    clock.now += 90
    assert pace.left() == pytest.approx(810)  # no more cores help a single job


def test_the_last_report_of_a_log_counts_and_a_log_is_read_now_and_then(clock, tmp_path):
    log = tmp_path / "a.log"
    assert reported_in(log) == reported_in(None) == ""
    log.write_bytes(b"step 1 of 9\n" + b"\xff" * 9999 + b"\nstep 200 of 1,700: train_loss 2.0\nsaved\n")
    assert reported_in(log) == "step 200 of 1,700"
    pace = run(clock, [("train", 10.0, 1, str(log))])
    pace.begin(0)
    assert pace.told("train") == "step 200 of 1,700"
    log.write_text("step 300 of 1,700\n")
    assert pace.told("train") == "step 200 of 1,700"
    clock.now += PERIOD
    assert pace.told("train") == "step 300 of 1,700"
    assert pace.told("score") == ""


def test_durations_in_words():
    assert [in_words(seconds) for seconds in (5, 89, 90, 3600, 5400)] == ["5 s", "89 s", "2 min", "60 min", "1.5 h"]
    assert [clocked(seconds) for seconds in (7.9, 432, 36000)] == ["0:00:07", "0:07:12", "10:00:00"]
