"""`make shape` counts what it says, in a project of a few lines."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import shape

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "config/config.yaml": "metrics:\n  tau: 0.9\nfamily:\n  - rank: 4\n",
    "config/README.md": "`metrics.tau` is a mass\n",
    "workflow/Snakefile": "include: 'rules/a.smk'\n",
    "workflow/rules/a.smk": "rule a:\n    script: 'a.py'\n\n\nfor x in y:\n    use rule a as b with:\n        log: x\n",
    "workflow/plan/models.py": "rank = 4\n",
    "workflow/studies/s/plan.py": "",
    "workflow/studies/s/rules.smk": "use rule a as c with:\n    input: tau\n\n\nchecked_rule = 1\n",
    "workflow/studies/s/measure.py": "from oversmoothing.bat.reject import RejectSet, reject_set\nrank = 1\n",
    "scripts/oversmoothing/measures/tbat.py": "from oversmoothing.bat.reject import reject_set\n",
    "scripts/oversmoothing/scores.py": "from oversmoothing.forced import divide, prepare\ntaut, RANKS = 1, 2\n",
    "scripts/oversmoothing/head.py": "rank = 1\n",
    "scripts/oversmoothing/other.py": "rank = 1\n",
}


@pytest.fixture
def project(tmp_path):
    """A project whose steps import one module with the word."""
    steps = {f"scripts/{step}.py": "from oversmoothing.head import rank\n" for step in shape.OF_RANK}
    for name, text in {**FILES, **steps}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def names(project, paths):
    return sorted(path.relative_to(project).as_posix() for path in paths)


def test_a_way_has_the_files_with_the_whole_word(project):
    assert names(project, shape.naming("tau", shape.way(project, shape.OF_TAU))) == ["config/config.yaml"]
    rank = names(project, shape.naming("rank", shape.way(project, shape.OF_RANK)))
    steps = [f"scripts/{step}.py" for step in shape.OF_RANK]
    inner = ["config/config.yaml", "scripts/oversmoothing/head.py", "workflow/plan/models.py"]
    assert rank == sorted([*steps, *inner])


def test_rules_imports_and_lines_are_counted(project):
    assert len(shape.statements(project, "(?:use )?rule")) == 3
    assert len(shape.statements(project, "use rule")) == 2
    assert shape.measured_elsewhere(project) == [
        "scripts/oversmoothing/scores.py: oversmoothing.forced.divide",
        "workflow/studies/s/measure.py: oversmoothing.bat.reject.reject_set",
    ]
    assert shape.study_lines(project) == {"s": 7}


def test_the_page_has_the_rows_of_the_table():
    done = subprocess.run([sys.executable, shape.__file__], capture_output=True, text=True, check=True)
    page = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| (.+?) \| [\d,]+ \| (.+?) \|$", done.stdout, re.MULTILINE)
    assert len(rows) == 8
    for what, goal in rows:
        assert re.search(rf"^\| {re.escape(what)} \| [\d,]+ \| {re.escape(goal)} \|$", page, re.MULTILINE), what
