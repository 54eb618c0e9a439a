"""Why the jobs of a run failed, from what Snakemake logged of the run and they themselves."""

import logging
import re
from pathlib import Path

# What Snakemake says of a job that has said itself what was wrong, and ended with status 1; not of one that was killed.
_REPEATED = re.compile(
    r"CalledProcessError in file .* exit status 1\.|At least one job did not complete|Exiting because a job execution",
    re.DOTALL,
)
_EVENT = re.compile(
    r"^Error in rule (?P<rule>\w+):\n(?:    message: (?P<told>(?:(?!    jobid:).*\n)+))?    jobid: (?P<failed>\d+)\n"
    r"(?:    (?!log:).*\n)*(?:    log: (?P<logs>.+) \(check log)?|^Finished jobid: (?P<ended>\d+) ",
    re.MULTILINE,
)

INTERRUPTED = "Terminating processes on user request"  # as Snakemake says after Ctrl-C, before its jobs end
AGAIN = "Interrupted: the same command goes on from here."


def last_words(logged: str) -> list[str]:
    """Return what a run that did not finish ends with: why jobs failed, and after Ctrl-C how to go on."""
    before, interrupted, _ = logged.partition(INTERRUPTED)  # what failed after it was stopped thereby
    return [*(f"Failed: {cause}" for cause in causes(before)), *([AGAIN] if interrupted else [])]


def says_more(record: logging.LogRecord) -> bool:
    """Return whether a record of Snakemake says more than a job that failed does itself: a filter of its log."""
    return not _REPEATED.search(str(record.msg))


def causes(logged: str) -> list[str]:
    """Return the rule of each job that failed, unless it was started again and ended well; its error and its logs."""
    failed: dict[str, re.Match[str]] = {}
    for event in _EVENT.finditer(logged):
        failed.pop(event["ended"] or event["failed"], None)
        if event["failed"]:
            failed[event["failed"]] = event
    return [f"{event['rule']}: {_cause(event['told'] or '', event['logs'] or '')}" for event in failed.values()]


def _cause(told: str, logs: str) -> str:
    """Return the error at the end of a job's log and what was told of it, such as by SLURM; and where they are."""
    said = _error(Path(logs.split(", ")[0]))
    parts = [part for part in (said, " ".join(told.split())) if part not in ("", "None")]
    text = "; ".join(parts) or "no message; its process may have been killed"
    return f"{text} (log: {logs})" if logs else text


def _error(log: Path) -> str:
    """Return the last error of a log, of a traceback its last line."""
    _, mark, message = (log.read_text(errors="replace") if log.is_file() else "").rpartition(" ERROR ")
    lines = message.strip().splitlines() if mark else []
    return "" if not lines else lines[-1] if lines[0] == "failed" else lines[0]
