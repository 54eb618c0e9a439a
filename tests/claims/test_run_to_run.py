"""The margins between trainings: one per metric that claims compare, and the script that measures them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
from default_config import DEFAULT
from made_scores import write_scores

from oversmoothing.claims.added import of_studies
from oversmoothing.claims.table import MARGINS
from oversmoothing.store.parquet import write_table
from plan import studies
from schemas.config import read_schema

ROOT = Path(__file__).resolve().parents[2]
LEVELS = {"bn4-s1": 1.0, "bn4-s2": 0.8, "bn16-s1": 0.5, "bn16-s2": 0.49}


def margins_of_all():
    """Return the keys of the core, and those of the claims of the studies."""
    return [*MARGINS, *of_studies(studies.with_part(DEFAULT, "claims.py")).margins]


def margins_measured(folder):
    return subprocess.run(
        [sys.executable, ROOT / "benchmarks/run_to_run.py", folder], capture_output=True, text=True, check=False
    )


def write(folder, metric, model, levels):
    path = folder / "scores" / metric / f"{model}.parquet"
    write_scores(path, [(0, "truth", decoding, np.full(10, level)) for decoding, level in levels.items()])


@pytest.fixture
def results(tmp_path):
    for model, level in LEVELS.items():
        for metric in ("tto", "tbat"):
            pure = level if metric == "tto" else float(model.startswith("bn4"))
            write(tmp_path, metric, model, {"pure": pure, "greedy": level**2})
        history = tmp_path / "models" / model / "history.parquet"
        history.parent.mkdir(parents=True)
        write_table(history, pa.table({"validation_loss": [3.0, 2 * level]}), {})
    return tmp_path


def test_every_metric_has_a_margin_in_the_config_and_a_name_in_the_legend():
    margins = read_schema()["properties"]["claims"]["properties"]["run_to_run"]
    assert sorted(margins["required"]) == sorted(margins["properties"]) == sorted(margins_of_all())
    assert sorted(DEFAULT["claims"]["run_to_run"]) == sorted(margins_of_all())


def test_the_share_by_which_seeds_differ(results):
    done = margins_measured(results)
    assert done.returncode == 0, done.stderr
    heading, _, *lines = done.stdout.splitlines()
    assert heading == "| metric | rank 4 | rank 16 | largest | sd | 95 % of pairs | other decodings |"
    rows = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in lines if line[:1] == "|"}
    sd = np.sqrt(np.mean([np.var(pair, ddof=1) / np.mean(pair) ** 2 for pair in ((1, 0.8), (0.5, 0.49))]))
    reach = np.sqrt(2) * sd * scipy.stats.t.ppf(0.975, 2)
    assert [float(cell) for cell in rows["tto"]] == pytest.approx([0.2, 0.02, 0.2, sd, reach, 0.36], abs=6e-4)
    assert [float(cell) for cell in rows["losses"][:3]] == pytest.approx([0.2, 0.02, 0.2], abs=6e-4)
    assert [float(cell) for cell in rows["tbat"][:4]] == [0, 0, 0, 0]
    lacking = {line.partition(":")[0] for line in lines if line and line[0] != "|"}
    assert rows.keys() | lacking == set(margins_of_all())
    assert "kl: there is no kl of bn4-s1" in lines


def test_one_seed_has_no_spread(tmp_path):
    write(tmp_path, "tto", "bn4-s1", {"pure": 1.0})
    done = margins_measured(tmp_path)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("it takes scores of two `seeds`, and there are those of ['bn4-s1']")
