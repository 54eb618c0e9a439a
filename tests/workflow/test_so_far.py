"""How far a run under way has come: what is finished, what is not, and nothing touched."""

import os
import shutil
import signal

import pytest
from waiting import wait_for

OTHER = "bn16-s1337"


def so_far(study, config="tests/config/tiny.yaml"):
    """Run it as a user would; return the page and its rows by model."""
    study.snakemake("so_far", config=config, options=["--nolock"])
    page = (study.folder / "results/so_far/progress.md").read_text()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    header, _, *rows = cells
    return page, {row[0]: dict(zip(header, row, strict=True)) for row in rows}


def state(study):
    """Size and time of every result outside so_far/, and of the locks."""
    roots = [study.folder / "results", study.folder / ".snakemake/locks", study.folder / ".snakemake/metadata"]
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size)
        for root in roots
        for path in root.rglob("*")
        if path.is_file() and "so_far" not in path.parts
    }


@pytest.fixture
def truth_again(tiny):
    """A config under which the truth is trained anew, for long."""
    return tiny(("max_steps: 24", "max_steps: 1000000, patience: 1000000"))


def test_finished_models_and_the_others_with_and_without_the_text(copy):
    results = copy.folder / "results"
    shutil.rmtree(results / "showcase", ignore_errors=True)  # other tests may have made it, with other prompts
    shutil.rmtree(results / "models" / OTHER)
    for path in results.rglob(f"{OTHER}.parquet"):
        path.unlink()
    before = state(copy)
    page, rows = so_far(copy)
    assert state(copy) == before
    assert rows["bn4-s1337"]["training"].startswith("done, validation loss ")
    assert (rows["bn4-s1337"]["logits"], rows["bn4-s1337"]["samples"]) == ("done", "waiting")
    assert (rows[OTHER]["training"], rows[OTHER]["logits"], rows[OTHER]["scores"]) == ("waiting",) * 3
    assert rows["svd4-s1337"]["training"] == "-"
    assert "To be made again" not in page
    (copy.folder / "text.jsonl").unlink()
    assert so_far(copy)[1]["bn4-s1337"]["training"] == "to be done again"


def test_beside_a_run_that_holds_the_lock(copy, truth_again):
    """The truth is in training; the run goes on, its lock stays."""
    folder = copy.folder
    run = copy.start("results/models/truth/weights.safetensors", config=truth_again)
    try:
        wait_for(lambda: list(folder.glob("checkpoints/truth-*/resume.safetensors")), run)
        locks = sorted((folder / ".snakemake/locks").iterdir())
        assert locks
        before = state(copy)
        page, rows = so_far(copy, truth_again)
        assert run.poll() is None
        assert sorted((folder / ".snakemake/locks").iterdir()) == locks
        now = state(copy)
        assert {path for path in before | now if before.get(path) != now.get(path)} <= {
            folder / "results/logs/train/truth.log",
            folder / "results/models/truth/owner",  # its sign of life
        }
        assert "of 1,000,000, validation loss" in rows["truth"]["training"]
        assert "outdated" in rows["bn4-s1337"]["scores"]
        assert "To be made again" in page
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
