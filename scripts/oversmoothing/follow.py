"""One line of progress for a run of Snakemake, from what it prints and the logs of its trainings."""

import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_STEP = re.compile(r"step (\d+) of (\d+): .*validation loss ([\d.]+)")
_FIELDS = ("log", "wildcards")  # of Snakemake's description of a job
TAIL = 4096  # bytes of a log that hold its last evaluation


@dataclass
class Job:
    """A job that runs, as Snakemake announces it, and its start in seconds."""

    rule: str
    start: float
    log: str = ""
    wildcards: str = ""

    def __str__(self) -> str:
        """What it does: the rule, the model, and a training's step and loss."""
        model = re.search(r"model=(\S+?)(?:,|$)", self.wildcards)
        text = " ".join([self.rule.replace("_", " "), *([model[1]] if model else [])])
        found = self.evaluation()
        return f"{text} (step {found[0]} of {found[1]}, loss {found[2]:.2f})" if found else text

    def evaluation(self) -> tuple[int, int, float] | None:
        """Step, number of steps and validation loss of a training's last evaluation."""
        if not self.rule.startswith("train"):
            return None
        try:
            with Path(self.log).open("rb") as file:
                file.seek(max(0, file.seek(0, 2) - TAIL))
                found = _STEP.findall(file.read().decode(errors="replace"))
        except OSError:
            return None
        return (int(found[-1][0]), int(found[-1][1]), float(found[-1][2])) if found else None


class Follower:
    """The state of a run.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.cores = 1
        self.total = self.done = 0
        self.waiting: dict[str, int] = {}  # jobs of each rule that have not started
        self.running: dict[str, Job] = {}
        self.durations: dict[str, list[float]] = {}
        self.last: deque[str] = deque(maxlen=40)  # lines, to be shown after an error
        self._announced: Job | None = None  # whose description is being read
        self._failed = False  # a description of a failure is being read
        self._counting = False

    def read(self, line: str) -> None:
        """Take in a line that Snakemake printed."""
        self.last.append(line)
        text = line.strip()
        described = re.fullmatch(r"    (\w+): (.*)", line.rstrip())
        if not described and not line.startswith("    "):
            self._announced, self._failed = None, text.startswith("Error in rule ")
        if found := re.fullmatch(r"(?:local)?rule (\w+):", text):
            self._announced = Job(found[1], self.clock())
        elif described and self._failed:
            job = self.running.pop(described[2], None) if described[1] == "jobid" else None
            if job:  # it may be restarted
                self.waiting[job.rule] = self.waiting.get(job.rule, 0) + 1
        elif described and self._announced:
            if described[1] in _FIELDS:
                setattr(self._announced, described[1], described[2])
            if described[1] == "jobid":
                self.running[described[2]] = self._announced
                self.waiting[self._announced.rule] = max(0, self.waiting.get(self._announced.rule, 0) - 1)
        elif found := re.match(r"Finished jobid: (\d+)", text):
            job = self.running.pop(found[1], None)
            if job:
                self.durations.setdefault(job.rule, []).append(self.clock() - job.start)
        elif found := re.match(r"(\d+) of (\d+) steps", text):
            self.done, self.total = int(found[1]), int(found[2])
        elif found := re.fullmatch(r"Provided cores: (\d+).*", text):
            self.cores = int(found[1])
        elif text == "Job stats:":
            self._counting, self.waiting = True, {}
        elif self._counting and (found := re.fullmatch(r"(\w+) +(\d+)", text)):
            if found[1] == "total":
                self._counting, self.total = False, int(found[2])
            else:
                self.waiting[found[1]] = int(found[2])

    def line(self) -> str:
        """How far the run is, what is running, and how long the rest may take."""
        if not self.total:
            return "planning ..."
        parts = [f"{self.done} of {self.total} steps", ", ".join(map(str, self.running.values()))]
        left = self.seconds_left()
        parts.append(f"{in_words(left)} left" if left is not None else "")
        return " · ".join(filter(None, parts))

    def seconds_left(self) -> float | None:
        """Estimate from the jobs so far: those of the same rule, a training's own speed, or the mean job.

        Returns None until a training, if there are any, has shown its speed, or else a job has finished.
        """
        expected = {rule: sum(taken) / len(taken) for rule, taken in self.durations.items()}
        now, left = self.clock(), 0.0
        for job in self.running.values():
            if (found := job.evaluation()) and found[0]:
                expected.setdefault(job.rule, (now - job.start) * found[1] / found[0])
        slow = [rule for rule in ("train", "train_truth") if self._count(rule)]
        if slow and not any(rule in expected for rule in ("train", "train_truth")):
            return None
        known = list(expected.values())
        if not known:
            return None
        quick = [taken for rule, taken in expected.items() if not rule.startswith("train")]
        for rule in {*self.waiting, *(job.rule for job in self.running.values())}:
            typical = known if rule.startswith("train") else quick or [5.0]
            one = expected.get(rule, sum(typical) / len(typical))
            left += one * self.waiting.get(rule, 0)
            left += sum(max(0.0, one - (now - job.start)) for job in self.running.values() if job.rule == rule)
        return left / self.cores

    def _count(self, rule: str) -> int:
        return self.waiting.get(rule, 0) + sum(job.rule == rule for job in self.running.values())


def in_words(seconds: float) -> str:
    """Return a duration as a person says it: "a moment", "about 40 s", "about 7 min", "about 3.5 h"."""
    if seconds < 5:
        return "a moment"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10 or 10} s"
    return f"about {round(seconds / 60)} min" if seconds < 90 * 60 else f"about {seconds / 3600:.1f} h"
