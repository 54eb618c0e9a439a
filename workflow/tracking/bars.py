"""Bars of a run by the expected time of its jobs, in place of their number, which the logger plugin counts.

The plugin draws a bar for each rule and one for all. Here its columns are replaced, and Snakemake's messages tell which
jobs are under way.
"""

import logging
from collections.abc import Callable
from typing import Any

from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task
from rich.progress_bar import ProgressBar
from rich.table import Column
from rich.text import Text
from snakemake_interface_logger_plugins.common import LogEvent

from oversmoothing.run.pace import Job, Pace, clocked, in_words

TOTAL = "Total Progress"  # the plugin's name of the bar of all rules


def show_by_time(workflow: Any, seconds: Callable[[Any], float]) -> None:
    """Let the bars of a run, if a plugin draws some, show shares of the expected `seconds` of jobs and the rest."""
    for handler in workflow.logger_manager.get_log_handlers():
        if (drawn := getattr(handler, "event_handler", None)) is not None:
            dag = workflow.dag
            jobs = {
                dag.jobid(job): Job(job.rule.name, seconds(job), job.threads, next(iter(job.log), None))
                for job in dag.needrun_jobs()
            }
            pace, rules = Pace(jobs, workflow.cores), drawn.progress_display.rule_tasks
            columns = [kind(pace, rules) for kind in (_Count, _Name, _Bar, _Share, _Time)]
            drawn.progress.columns = (SpinnerColumn("dots", style="default", finished_text="[dim green]✓"), *columns)
            workflow.logger_manager.logger.addHandler(_Listener(pace))


class _Listener(logging.Handler):
    """A handler that prints nothing, and notes which jobs begin and end."""

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self.pace = pace

    def emit(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO:
            self.pace.begin(record.jobid)  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_FINISHED:
            self.pace.end(record.job_id)  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_ERROR:
            self.pace.end(record.jobid, failed=True)  # type: ignore[attr-defined]


class _OfRule(ProgressColumn):
    """A column that knows the rule of its row, None of all rules, by the plugin's tasks."""

    def __init__(self, pace: Pace, tasks: dict[str, Any], column: Column | None = None) -> None:
        super().__init__(column or Column(no_wrap=True))
        self.pace = pace
        self.tasks = tasks

    def rule(self, task: Task) -> str | None:
        return next((rule for rule, number in self.tasks.items() if number == task.id and rule != TOTAL), None)


class _Count(_OfRule):
    def render(self, task: Task) -> Text:
        return Text("{}/{}".format(*self.pace.count(self.rule(task))), justify="right")


class _Name(_OfRule):
    def render(self, task: Task) -> Text:
        name = Text.from_markup(f"[bold blue]{task.description}")
        if (rule := self.rule(task)) and (told := self.pace.told(rule)):
            name.append(f": {told}", "default")
        return name


class _Bar(_OfRule):
    def __init__(self, pace: Pace, tasks: dict[str, Any]) -> None:
        super().__init__(pace, tasks, BarColumn(bar_width=None).get_table_column())

    def render(self, task: Task) -> ProgressBar:
        share = self.pace.share(self.rule(task))
        return ProgressBar(1.0, share, complete_style="green", finished_style="dim green")


class _Share(_OfRule):
    def render(self, task: Task) -> Text:
        return Text(f"{int(100 * self.pace.share(self.rule(task))):3}%", "progress.percentage")


class _Time(_OfRule):
    """How long a rule has taken; and of all rules, how long the rest will take."""

    def render(self, task: Task) -> Text:
        rule = self.rule(task)
        left = "" if rule or self.pace.share() == 1 else f", {in_words(self.pace.left())} left"
        return Text(clocked(self.pace.took(rule)) + left, "progress.elapsed")
