"""One line of progress for a run of Snakemake, from its events and the logs of its trainings."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from logging import LogRecord
from pathlib import Path

_STEP = re.compile(r"step (\d+) of (\d+): .*validation loss ([\d.]+)")
TRAINING_RULES = ("train_trial", "train", "train_truth")
TAIL = 4096  # bytes of a log that hold its last evaluation, or its error


@dataclass
class Job:
    """A job, as Snakemake announces it, and its start in seconds."""

    rule: str
    model: str
    log: str
    start: float

    def __str__(self) -> str:
        """What it does: the rule, the model, and a training's step and loss."""
        text = f"{self.rule.replace('_', ' ')} {self.model}".rstrip()
        last = self.evaluation()
        return f"{text} (step {last[0]} of {last[1]}, loss {last[2]:.2f})" if last else text

    def evaluation(self) -> tuple[int, int, float] | None:
        """Step, number of steps and validation loss of a training's last evaluation."""
        logged = _STEP.findall(self._tail()) if self.rule.startswith("train") else []
        return (int(logged[-1][0]), int(logged[-1][1]), float(logged[-1][2])) if logged else None

    def cause(self) -> str:
        """Error that a failed job has logged: its message, or the last line of a traceback."""
        _, mark, message = self._tail().rpartition(" ERROR ")
        lines = message.strip().splitlines() if mark else []
        if not lines:
            return "no message; its process may have been killed"
        return lines[-1] if lines[0] == "failed" else lines[0]

    def _tail(self) -> str:
        try:
            with Path(self.log).open("rb") as file:
                file.seek(max(0, file.seek(0, 2) - TAIL))
                return file.read().decode(errors="replace")
        except OSError:
            return ""


class Follower:
    """The state of a run with these rules of jobs on so many cores, None if each job has a node of its own."""

    def __init__(self, rules: Iterable[str], cores: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.waiting = Counter(rules)  # jobs of each rule that have not started
        self.cores = cores
        self.clock = clock
        self.total, self.done = self.waiting.total(), 0
        self.running: dict[int, Job] = {}
        self.failed: dict[int, Job] = {}
        self.durations: dict[str, list[float]] = {}

    def read(self, record: LogRecord) -> None:
        """Take in one of Snakemake's log records; those that are no events of jobs change nothing."""
        values = vars(record)
        match values.get("event"):
            case "job_info":
                log = values["log"][0] if values["log"] else ""
                job = Job(values["rule_name"], values["wildcards"].get("model", ""), log, self.clock())
                self.running[values["jobid"]] = job
                self.waiting[job.rule] -= 1
            case "job_finished":
                self.failed.pop(values["job_id"], None)
                if finished := self.running.pop(values["job_id"], None):
                    self.durations.setdefault(finished.rule, []).append(self.clock() - finished.start)
            case "job_error":
                if failed := self.running.pop(values["jobid"], None):
                    self.failed[values["jobid"]] = failed  # unless it is restarted and ends well
                    self.waiting[failed.rule] += 1
            case "progress":
                self.done, self.total = values["done"], values["total"]

    def line(self) -> str:
        """How far the run is, what is running, and how long the rest may take."""
        parts = [f"{self.done} of {self.total} steps", ", ".join(map(str, self.running.values()))]
        left = self.seconds_left()
        parts.append(f"{in_words(left)} left" if left is not None else "")
        return " · ".join(filter(None, parts))

    def causes(self) -> list[str]:
        """What each failed job says, and where its log is."""
        return [
            f"{job.rule} {job.model}".rstrip() + f": {job.cause()} (log: {job.log})" for job in self.failed.values()
        ]

    def seconds_left(self) -> float | None:
        """Estimate from the jobs so far: those of the same rule, a training's own speed, or the mean job.

        None until a training, if there are any, has shown its speed, or else a job has finished.
        """
        expected = {rule: sum(taken) / len(taken) for rule, taken in self.durations.items()}
        now, left = self.clock(), 0.0
        for job in self.running.values():
            if (last := job.evaluation()) and last[0]:
                expected.setdefault(job.rule, (now - job.start) * last[1] / last[0])
        slow = [rule for rule in TRAINING_RULES if self._count(rule)]
        if slow and not any(rule in expected for rule in TRAINING_RULES):
            return None
        known = list(expected.values())
        if not known:
            return None
        quick = [taken for rule, taken in expected.items() if not rule.startswith("train")]
        for rule in {*self.waiting, *(job.rule for job in self.running.values())}:
            typical = known if rule.startswith("train") else quick or [5.0]
            one = expected.get(rule, sum(typical) / len(typical))
            left += one * self.waiting[rule]
            left += sum(max(0.0, one - (now - job.start)) for job in self.running.values() if job.rule == rule)
        return left / (self.cores or len(self.running) or 1)

    def _count(self, rule: str) -> int:
        return self.waiting[rule] + sum(job.rule == rule for job in self.running.values())


def in_words(seconds: float) -> str:
    """Return a duration as a person says it: "a moment", "about 40 s", "about 7 min", "about 3.5 h"."""
    if seconds < 5:
        return "a moment"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10 or 10} s"
    return f"about {round(seconds / 60)} min" if seconds < 90 * 60 else f"about {seconds / 3600:.1f} h"
