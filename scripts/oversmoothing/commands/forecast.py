"""How long a comparison takes: what was timed of its models, and the start of all jobs."""

import re
import subprocess
from collections.abc import Mapping
from textwrap import fill
from time import perf_counter, process_time
from typing import NamedTuple

from oversmoothing.commands.study import environment
from oversmoothing.commands.two_models import WIDTH, Pair
from oversmoothing.run.pace import in_words

DRAWN = 2.0  # seconds of a job for its table or figure, beside its start


class Starts(NamedTuple):
    """How many jobs a run has, and how many seconds Snakemake takes to start, and each of them."""

    jobs: int
    snakemake: float
    job: float

    def seconds(self, cores: int) -> float:
        """Return how long all starts take, tables and figures included: for printed tables, the others, a report."""
        return 3 * self.snakemake + self.jobs * (self.job + DRAWN) / cores


def count_jobs(pair: Pair) -> Starts:
    """Return what starts: jobs as Snakemake plans them, each of which imports about what this process has imported."""
    imported, begun = process_time(), perf_counter()
    planned = subprocess.run(
        [*pair.snakemake, "--dry-run", "--quiet", "rules"], env=environment(), capture_output=True, text=True
    )
    total = re.search(r"^total +(\d+)$", planned.stdout + planned.stderr, flags=re.MULTILINE)
    return Starts(int(total[1]) if total else 0, perf_counter() - begun, imported)


def forecast(parts: Mapping[str, float], starts: Starts, cores: int, judged: str) -> str:
    """Return the whole time of a comparison in words, and each part of it, for a terminal of 80 columns."""
    every = {**parts, f"{starts.jobs:,} jobs to start, with tables and figures": starts.seconds(cores)}
    said = "; ".join(f"{roughly(seconds)} for {what}" for what, seconds in every.items())
    return fill(f"This takes {roughly(sum(every.values()))} here, judged by {judged}: {said}.", WIDTH)


def roughly(seconds: float) -> str:
    """Return a duration as a person says it: "a moment", "about 40 s", "about 7 min", "about 3.5 h"."""
    return "a moment" if seconds < 5 else f"about {in_words(max(seconds, 10), 10)}"
