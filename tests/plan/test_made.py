"""What a results folder says of itself."""

import re
import subprocess
from pathlib import Path

import pytest

from oversmoothing.scores.catalogue.metrics import METRICS
from tracking import made

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_of_results_leads_to_the_columns_and_states_the_unit_of_each_metric(tmp_path):
    made.explain(tmp_path)
    text = (tmp_path / "README.md").read_text()
    page = text.partition("[docs/results.md](")[2].partition(")")[0]
    assert (tmp_path / page).resolve() == ROOT / "docs/results.md"
    assert f"| `kl` | KL (nats) | {METRICS['kl'].unit} |" in text
    assert all(f"| `{name}` |" in text for name in METRICS)
    made.explain(tmp_path)
    assert (tmp_path / "README.md").read_text() == text


@pytest.mark.parametrize("own", [b"mine", b"\xff"])
def test_a_readme_of_the_users_own_stays(tmp_path, own):
    (tmp_path / "README.md").write_bytes(own)
    made.explain(tmp_path)
    assert (tmp_path / "README.md").read_bytes() == own


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no clone")
@pytest.mark.parametrize("path", ["build/lib/a.py", "results/README.md", ".venv/bin/python", "assets/a.json"])
def test_what_is_made_here_is_ignored_by_git(path):
    assert subprocess.run(["git", "-C", ROOT, "check-ignore", "-q", path]).returncode == 0


def test_make_env_names_the_large_files_that_pip_fetches_and_make_real_so_far_first():
    makefile = (ROOT / "Makefile").read_text()
    large = re.compile(re.search(r"^LARGE := (.*\))#", makefile, flags=re.MULTILINE)[1])
    said = {
        "Collecting torch==2.13.0": False,
        "  Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (888.1 MB)": True,
        "Using cached nvidia_cublas-13.0-py3-none-manylinux_2_27_x86_64.whl (1.2 GB)": True,
        "Downloading tqdm-4.70.1-py3-none-any.whl (78 kB)": False,
        "Downloading pandas-3.0-cp311.whl (9.9 MB)": False,
        "Downloading numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl (16.9 MB)": True,
    }
    assert {line: bool(large.search(line)) for line in said} == said
    recipe = makefile.partition("\nreal:")[2].partition("\n\n")[0].splitlines()
    assert "make so-far CONFIG=config/real.yaml" in recipe[1]
