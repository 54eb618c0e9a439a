"""Bars of a run, drawn by the logger plugin with our columns: weights, names, times."""

import io
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from default_config import default
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_logger_plugin_rich.handler import RichLogHandler

import plan
from tracking.bars import show_by_time

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = SimpleNamespace(dryrun=False, printshellcmds=False, show_failed_logs=False, verbose=False)


def job(number, rule, settings=None, **more):
    facts = {"rule": SimpleNamespace(name=rule), "params": {"settings": settings}, "log": [], "threads": 1, "input": {}}
    return SimpleNamespace(number=number, **facts | more)


@pytest.fixture
def bars(tmp_path):
    """The plugin with a run of four trainings and a long job; ``tell`` passes an event on, ``shown`` draws the rows."""
    handler, logger = RichLogHandler(SETTINGS), logging.Logger("bars")
    log = tmp_path / "long.log"
    jobs = [*(job(i, "train") for i in range(4)), job(4, "byte_logits", log=[str(log)])]
    dag = SimpleNamespace(jobid=lambda job: job.number, needrun_jobs=lambda: jobs)
    manager = SimpleNamespace(get_log_handlers=lambda: [handler], logger=logger)
    workflow = SimpleNamespace(logger_manager=manager, dag=dag, cores=2)
    logger.addHandler(handler)
    show_by_time(workflow, lambda job: 960 if job.rule.name == "byte_logits" else 10)

    def tell(event, **facts):
        logger.info("", extra={"event": event, **facts})

    def shown():
        console = Console(file=io.StringIO(), width=100)
        console.print(handler.progress.get_renderable())
        return [" ".join(line.split()) for line in console.file.getvalue().splitlines() if line.strip()]

    stats = {"total": 5, "train": 4, "byte_logits": 1}
    tell(LogEvent.RUN_INFO, stats=stats, per_rule_job_counts=stats, total_job_count=5)
    yield SimpleNamespace(tell=tell, shown=shown, log=log)
    handler.close()


def begin(bars, number, rule):
    names = {"rule_name": rule, "threads": 1, "input": [], "output": [], "log": [], "wildcards": {}}
    bars.tell(LogEvent.JOB_INFO, jobid=number, **names)


def test_bars_weigh_jobs_by_time_and_the_longest_has_one_of_its_own(bars):
    for number in range(4):
        begin(bars, number, "train")
        bars.tell(LogEvent.JOB_FINISHED, job_id=number)
    bars.log.write_text("window 25 of 100\n")
    begin(bars, 4, "byte_logits")
    whole, train, longest = bars.shown()
    assert "4/5 Total Progress" in whole
    assert "28% 0:00:0" in whole  # 40 and a quarter of 960 of 1,000 expected seconds
    assert whole.endswith(" left")
    assert "4/4 train" in train
    assert "100% 0:00:0" in train
    assert "left" not in train
    assert "0/1 byte logits: window 25 of 100" in longest
    assert "25% 0:00:0" in longest


def test_trainings_and_byte_views_weigh_their_operations_as_needs_knows_them():
    config = default()
    members = plan.models.by_name(config)
    weights = {
        name: plan.pace.seconds(config, job(0, "train", members[name].settings)) for name in ("bn4-s1337", "truth")
    }
    assert weights["truth"] > 1.5 * weights["bn4-s1337"] > 60
    of = members["truth"].settings
    branch = {**of, "training": {**of["training"], "decay": "stable", "decay_share": 0.2}}
    decay = plan.pace.seconds(config, job(0, "train", branch, input={"start": "states"}))
    assert decay - plan.pace.START == pytest.approx(0.2 * (weights["truth"] - plan.pace.START), rel=0.05)
    assert plan.pace.seconds(config, job(0, "tables")) < 0.1 * weights["bn4-s1337"]
    real = default(**yaml.safe_load((ROOT / "config/real.yaml").read_text()))
    view = job(0, "byte_logits", {}, wildcards=SimpleNamespace(model="smollm2"))
    assert plan.pace.seconds(real, view) > weights["bn4-s1337"]  # also before it is fetched
