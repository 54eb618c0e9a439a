"""How much of a run is done by the expected time of its jobs, how long the rest takes, and how long each rule took."""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

REPORTED = re.compile(r"\b(?P<unit>step|window) (?P<done>[\d,]+) of (?P<all>[\d,]+)")  # in the log of a job
TAIL = 4096  # bytes at the end of a log that are read
PERIOD = 2.0  # seconds between two looks at a log
ALMOST = 0.95  # the most that is believed of a job that reports nothing and takes longer than expected
PRIOR = 60.0  # seconds for which the expected speed outweighs the measured one


@dataclass
class Job:
    """A job: what it is expected to take, and when it began and ended."""

    rule: str
    expected: float  # seconds of one processor
    threads: int = 1
    log: str | None = None
    begun: float | None = None
    ended: float | None = None
    seen: float = -PERIOD  # when its log was read
    report: str = ""  # "step 200 of 1,700"


class Pace:
    """The jobs of a run by id; `rule` restricts an answer to those of a rule, None means all."""

    def __init__(self, jobs: Mapping[int, Job], cores: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.jobs = dict(jobs)
        self.cores = cores
        self.clock = clock

    def begin(self, number: int) -> None:
        """Note that a job begins, perhaps once more after a failure."""
        if job := self.jobs.get(number):
            job.begun, job.ended, job.report, job.seen = self.clock(), None, "", self.clock() - PERIOD

    def end(self, number: int, failed: bool = False) -> None:
        """Note that a job ended; one that failed counts as not begun."""
        if job := self.jobs.get(number):
            job.begun, job.ended = (None, None) if failed else (job.begun, self.clock())

    def share(self, rule: str | None = None) -> float:
        """Return the share of the expected time that is done; 1 only when all jobs ended."""
        jobs = self._of(rule)
        if all(job.ended is not None for job in jobs):
            return 1.0
        return min(sum(job.expected * self._part(job) for job in jobs) / sum(job.expected for job in jobs), 0.999)

    def count(self, rule: str | None = None) -> tuple[int, int]:
        """Return the number of jobs that ended, and of all."""
        jobs = self._of(rule)
        return sum(job.ended is not None for job in jobs), len(jobs)

    def took(self, rule: str | None = None) -> float:
        """Return seconds from the first beginning of a job to the last end, or until now."""
        begun = [job.begun for job in self._of(rule) if job.begun is not None]
        ended = [job.ended for job in self._of(rule) if job.ended is not None]
        if not begun:
            return 0.0
        return (max(ended) if len(ended) == len(self._of(rule)) else self.clock()) - min(begun)

    def left(self) -> float:
        """Return seconds until the end at the speed so far, but no fewer than a running job still needs at its own."""
        rest = sum(job.expected * (1 - self._part(job)) for job in self.jobs.values())
        done = sum(job.expected for job in self.jobs.values()) - rest
        speed = (done + self.cores * PRIOR) / (self.took() + PRIOR)  # of expected seconds in a second
        under_way = [job for job in self.jobs.values() if job.begun is not None and job.ended is None]
        return max([rest / speed, *map(self._left_of, under_way)])

    def told(self, rule: str) -> str:
        """Return what the one job of a rule that is under way reports of itself; nothing where there are several."""
        under_way = [job for job in self._of(rule) if job.begun is not None and job.ended is None]
        return self._report(under_way[0]) if len(under_way) == 1 else ""

    def _of(self, rule: str | None) -> list[Job]:
        return [job for job in self.jobs.values() if rule in (None, job.rule)]

    def _part(self, job: Job) -> float:
        if job.begun is None or job.ended is not None:
            return float(job.ended is not None)
        reported = part_of(self._report(job))
        return min(ALMOST, (self.clock() - job.begun) * job.threads / job.expected) if reported is None else reported

    def _left_of(self, job: Job) -> float:
        part, ran = self._part(job), self.clock() - (job.begun or 0)
        if part_of(job.report) and ran >= PERIOD:  # its own speed is known
            return ran * (1 - part) / part
        return job.expected * (1 - part) / job.threads

    def _report(self, job: Job) -> str:
        if self.clock() - job.seen >= PERIOD:
            job.seen, job.report = self.clock(), reported_in(job.log) or job.report
        return job.report


def reported_in(log: str | Path | None) -> str:
    """Return the last report in a job's log, such as "step 200 of 1,700"; nothing where there is none."""
    with suppress(OSError):
        if log:
            with Path(log).open("rb") as file:
                file.seek(max(0, file.seek(0, 2) - TAIL))
                found = [match[0] for match in REPORTED.finditer(file.read().decode(errors="replace"))]
                return found[-1] if found else ""
    return ""


def part_of(report: str) -> float | None:
    """Return the part that a report says is done, from 0 to 1; None without a report."""
    if not (found := REPORTED.search(report)):
        return None
    done, whole = (int(found[name].replace(",", "")) for name in ("done", "all"))
    return min(1.0, done / whole) if whole else None


def in_words(seconds: float, step: int = 1) -> str:
    """Return a duration as one reads it beside a bar: "40 s", a multiple of `step`, "7 min", "1.5 h"."""
    if seconds < 90:
        return f"{round(seconds / step) * step} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def clocked(seconds: float) -> str:
    """Return a duration as a clock shows it: "0:07:12"."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
