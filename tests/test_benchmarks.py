"""Every benchmark runs, at its smallest size: what it measures there says nothing and is not looked at."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from oversmoothing.tables.quantities import Run

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
NET = ("--layers", "1", "--width", "12", "--threads", "1", "--repeats", "1")
UNTRAINED = ("--results", "nowhere")
QUICK = {  # arguments, and a line that it prints at the end
    "byte_view": (
        ("--bytes", "300", "--scored", "200", "--context", "60"),
        r"bytes take [\d.]+ times .* memory [\d,]+ MB",
    ),
    "forced_speed": (("--tokens", "20", "--rank", "3", "--positions", "4"), r"L-BFGS-B +[\d.]+ ms a position"),
    "null_verdicts": (("--tables", "20"), r"all-oversmooth \(truth-11\) +seeds +20 [\s\S]*worst: [\d.]+ %"),
    "training_speed": (
        (*NET, "--heads", "2", "--block", "16", "--batch", "1", "--steps", "1", "--compile", "false"),
        r"plain loop, transformers +[\d,]+ .*\nasked of bf16",
    ),
}
SLOW = {
    "bat_large_speed": (
        ("--vocabulary", "1200", "--dimensions", "4", "--positions", "1", "--tolerance", "0.01"),
        r"linear programs, 2 tokens at v = 1,200: [\d,]+ s a position",
    ),
    "bat_speed": (
        ("--ranks", "4", "--positions", "1", "--scored", "50", *UNTRAINED),
        r"random +4 .* 1 of 1 [\s\S]*50,000 in \d+ s \(extrapolated from 50\)",
    ),
    "memory": (("3",), r"samples_table +\d+ MB +\d+\nhighest: \d+ MB"),
}


def start(name, *arguments):
    """Run a benchmark; it may exit with status 1 because a target is missed, but not with an error."""
    command = [sys.executable, BENCHMARKS / f"{name}.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    assert not re.search(r"Traceback|failed:|Error", done.stderr), done.stderr
    return done.stdout


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_runs_at_its_smallest_size(name):
    arguments, line = (QUICK | SLOW)[name]
    output = start(name, *arguments)
    assert re.search(line, output), output


def test_no_benchmark_is_forgotten():
    assert {path.stem for path in BENCHMARKS.glob("*.py")} == {
        *QUICK,
        *SLOW,
        "judge_kept",
        "keep_study",
        "keeping",
        "measuring",
    }


def test_a_case_is_kept_once_beside_others(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    keep = importlib.import_module("keeping").keep
    keep("speed", "small", {"ours": (1.5, "ms"), "theirs": (2, "ms")}, tmp_path)
    keep("speed", "large", {"ours": (123456.7, "ms")}, tmp_path)
    keep("speed", "small", {"ours": (0.25, "ms")}, tmp_path)
    kept = Run(tmp_path).speed
    assert kept("ours", case="small").value == 0.25
    assert kept("ours", case="large").value == 123460
    assert kept.column("measure") == ["ours", "ours"]
    assert all(len(commit) == 12 for commit in kept.column("commit"))


def test_what_is_kept_was_measured_by_a_benchmark_at_a_commit():
    paths = sorted((ROOT / "resources/benchmarks").glob("*.csv"))
    assert {path.stem for path in paths} <= {*QUICK, *SLOW}
    for path in paths:
        rows = pd.read_csv(path)
        assert not rows.duplicated(["case", "measure"]).any(), path
        assert rows[["value", "machine", "date", "commit"]].notna().all(axis=None), path


def test_a_study_is_kept_with_what_made_it(tmp_path):
    """In a project of its own: the benchmark lies in it."""
    results = ("results/mine/tables/a.csv", "results/mine/figures/b.png")
    for path in ("benchmarks/keep_study.py", "config/mine.yaml", *results):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    (tmp_path / "benchmarks/keep_study.py").write_text((BENCHMARKS / "keep_study.py").read_text())
    (tmp_path / "config/mine.yaml").write_text(yaml.safe_dump({"results": "results/mine"}))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "a"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    command = [sys.executable, "benchmarks/keep_study.py", "config/mine.yaml"]
    subprocess.run([*command, "--clock-minutes", "2", "--processor-hours", "0.1"], cwd=tmp_path, check=True)
    kept = tmp_path / "resources/studies/mine"
    files = sorted(path.name for path in kept.rglob("*") if path.is_file())
    assert files == ["a.csv", "b.png", "config.yaml", "run.json"]
    run = json.loads((kept / "run.json").read_text())
    assert (run["clock_minutes"], len(run["commit"])) == (2.0, 40)


def commands():
    """Return the benchmarks that the documentation runs, with their options."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("config/*.md")]
    found = (re.findall(r"python benchmarks/(\w+)\.py([^`\n]*)", page.read_text()) for page in pages)
    return sorted({(name, *re.findall(r"--[\w-]+", options)) for own in found for name, options in own})


def test_the_documentation_runs_benchmarks_with_options_that_they_have():
    assert {name for name, *_ in commands()} >= {"bat_speed", "bat_large_speed", "training_speed"}
    for name, *options in commands():
        declared = set(re.findall(r'add_argument\(\s*"(--[\w-]+)"', (BENCHMARKS / f"{name}.py").read_text()))
        assert set(options) <= declared, name
