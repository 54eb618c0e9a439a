"""One line of progress for a run of Snakemake, from its events and the logs of its trainings."""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from logging import LogRecord
from pathlib import Path

_STEP = re.compile(r"^(\S+ \S+) INFO .*step (\d+) of (\d+): .*validation loss ([\d.]+)", re.MULTILINE)
_SUBMISSION = re.compile(r"error message was '(.*?)'\.\n +sbatch call", re.DOTALL)
TRAINING_RULES = ("train_trial", "train", "train_truth")
TAIL = 4096  # bytes of a log that hold its last evaluation, or its error


@dataclass
class Job:
    """A job, as Snakemake announces it, and its start in seconds since the epoch."""

    rule: str
    model: str
    log: str
    start: float
    told: str = ""  # of its failure, by what should have run it
    more: str = ""  # the log of that, such as SLURM's

    def __str__(self) -> str:
        """What it does: the rule, the model, and a training's step and loss."""
        text = f"{self.rule.replace('_', ' ')} {self.model}".rstrip()
        evaluations = self.evaluations()
        if not evaluations:
            return text
        _, step, steps, loss = evaluations[-1]
        return f"{text} (step {step} of {steps}, loss {loss:.2f})"

    def evaluations(self) -> list[tuple[float, int, int, float]]:
        """Time, step, number of steps and validation loss of a training's last evaluations, as of its last start."""
        logged = _STEP.findall(self._tail(self.start)) if self.rule.startswith("train") else []
        return [(_seconds(when), int(step), int(steps), float(loss)) for when, step, steps, loss in logged]

    def rest(self, now: float) -> float | None:
        """Seconds that a training takes from now on at its speed between the last two evaluations; None if unknown."""
        evaluations = self.evaluations()[-2:]
        if len(evaluations) < 2 or evaluations[0][1] >= evaluations[1][1]:  # the second: it has begun again
            return None
        (before, first, _, _), (last, step, steps, _) = evaluations
        since = min(max(now - last, 0.0), last - before)
        return max(0.0, (steps - step) * (last - before) / (step - first) - since)

    def cause(self) -> str:
        """Error of a failed job, and the log that says more.

        It is what sbatch said, the message in the job's log, the last line of a traceback there, or what SLURM said.
        """
        if refused := _SUBMISSION.search(self.told):
            return "; ".join(refused[1].splitlines())
        _, mark, message = self._tail().rpartition(" ERROR ")
        lines = message.strip().splitlines() if mark else []
        if lines:
            text, log = lines[-1] if lines[0] == "failed" else lines[0], self.log
        else:
            text = " ".join(self.told.split()) or "no message; its process may have been killed"
            log = self.more or self.log
        return f"{text} (log: {log})" if Path(log).is_file() else text

    def _tail(self, since: float = 0.0) -> str:
        """End of the log; nothing if it was last written before a time, by another start of the job."""
        try:
            with Path(self.log).open("rb") as file:
                if os.fstat(file.fileno()).st_mtime < since:
                    return ""
                file.seek(max(0, file.seek(0, 2) - TAIL))
                return file.read().decode(errors="replace")
        except OSError:
            return ""


class Follower:
    """The state of a run with these rules of jobs on so many cores, None if each job has a node of its own."""

    def __init__(self, rules: Iterable[str], cores: int | None, clock: Callable[[], float] = time.time) -> None:
        self.waiting = Counter(rules)  # jobs of each rule that have not started
        self.cores = cores
        self.clock = clock
        self.total, self.done = self.waiting.total(), 0
        self.running: dict[int, Job] = {}
        self.failed: dict[int, Job] = {}
        self.durations: dict[str, list[float]] = {}
        self.threads: dict[str, int] = {}

    def read(self, record: LogRecord) -> None:
        """Take in one of Snakemake's log records; those that are no events of jobs change nothing."""
        values = vars(record)
        match values.get("event"):
            case "job_info":
                log = values["log"][0] if values["log"] else ""
                job = Job(values["rule_name"], values["wildcards"].get("model", ""), log, self.clock())
                self.running[values["jobid"]] = job
                self.waiting[job.rule] -= 1
                self.threads[job.rule] = values["threads"]
            case "job_finished":
                self.failed.pop(values["job_id"], None)
                if finished := self.running.pop(values["job_id"], None):
                    self.durations.setdefault(finished.rule, []).append(self.clock() - finished.start)
            case "job_error":
                if failed := self.running.pop(values["jobid"], None):
                    failed.told = values["rule_msg"] or ""
                    failed.more = values["log"][-1] if values["log"] else ""
                    self.failed[values["jobid"]] = failed  # unless it is restarted and ends well
                    self.waiting[failed.rule] += 1
            case "progress":
                self.done, self.total = values["done"], values["total"]

    def line(self, ended: bool = False) -> str:
        """How far the run is, how long the rest may take unless it has ended, and what is running."""
        left = None if ended or self.done == self.total else self.seconds_left()
        parts = [f"{self.done} of {self.total} steps", f"{in_words(left)} left" if left is not None else ""]
        parts.append(", ".join(map(str, self.running.values())))
        return " · ".join(filter(None, parts))

    def causes(self) -> list[str]:
        """What each failed job says, and where its log is."""
        return [f"{job.rule} {job.model}".rstrip() + f": {job.cause()}" for job in self.failed.values()]

    def seconds_left(self) -> float | None:
        """Estimate from the jobs so far: a training's own speed, those of the same rule, or the mean job.

        None until a training, if there are any, has shown its speed, or else a job has finished; and while a job runs
        for more than twice as long as expected.
        """
        expected = {rule: sum(taken) / len(taken) for rule, taken in self.durations.items()}
        now = self.clock()
        rests = {number: job.rest(now) for number, job in self.running.items()}
        for number, job in self.running.items():
            if (rest := rests[number]) is not None:
                expected.setdefault(job.rule, now - job.start + rest)
        slow = [rule for rule in TRAINING_RULES if self._count(rule)]
        if not expected or (slow and not any(rule in expected for rule in TRAINING_RULES)):
            return None
        known = list(expected.values())
        quick = [taken for rule, taken in expected.items() if not rule.startswith("train")] or [5.0]

        def typical(rule: str) -> float:
            alike = known if rule.startswith("train") else quick
            return expected.get(rule, sum(alike) / len(alike))

        longest, work = 0.0, sum(typical(rule) * count * self._share(rule) for rule, count in self.waiting.items())
        for number, job in self.running.items():
            one, taken, rest = typical(job.rule), now - job.start, rests[number]
            if rest is None:
                if taken > 2 * one:
                    return None
                rest = max(0.0, one - taken)
            longest, work = max(longest, rest), work + rest * self._share(job.rule)
        return max(longest, work)

    def _share(self, rule: str) -> float:
        """Share of the machine, or of the nodes in use, that a job of the rule takes."""
        if self.cores is None:
            return 1 / (len(self.running) or 1)
        return min(self.threads.get(rule, 1), self.cores) / self.cores

    def _count(self, rule: str) -> int:
        return self.waiting[rule] + sum(job.rule == rule for job in self.running.values())


def _seconds(logged: str) -> float:
    """Return a time of a log, such as 2026-11-25 13:40:49,123, in seconds since the epoch."""
    return datetime.strptime(logged, "%Y-%m-%d %H:%M:%S,%f").timestamp()


def in_words(seconds: float) -> str:
    """Return a duration as a person says it: "a moment", "about 40 s", "about 7 min", "about 3.5 h"."""
    if seconds < 5:
        return "a moment"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10 or 10} s"
    return f"about {round(seconds / 60)} min" if seconds < 90 * 60 else f"about {seconds / 3600:.1f} h"
