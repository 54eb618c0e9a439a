"""Tables while a run is under way: what is finished, what is missing, and nothing touched."""

import os
import shutil
import signal
import subprocess
import time

import pandas as pd
import pytest
from study import TABLE

SO_FAR = ["-s", "workflow/so_far.smk", "--nolock"]
OTHER = "bn16-s1337"


def so_far(study, config="tests/config/tiny.yaml"):
    """Run it as a user would; give what it prints and the names of its tables."""
    output = study.snakemake("so_far", config=config, options=SO_FAR)
    return output, {path.stem for path in (study.folder / "results/so_far/tables").glob("*.md")}


def page(study, name):
    return (study.folder / f"results/so_far/tables/{name}.md").read_text()


def state(study):
    """Size and time of every result outside so_far/, and of the locks."""
    roots = [study.folder / "results", study.folder / ".snakemake/locks", study.folder / ".snakemake/metadata"]
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size)
        for root in roots
        for path in root.rglob("*")
        if path.is_file() and "so_far" not in path.parts
    }


def delete(study, model):
    """Take back all that there is of a model."""
    results = study.folder / "results"
    shutil.rmtree(results / "models" / model)
    for path in results.rglob(f"{model}.parquet"):
        path.unlink()


@pytest.fixture
def copy(copy):
    """A study without the human texts' quality, which other tests may have built."""
    (copy.folder / "results/human_quality.parquet").unlink(missing_ok=True)
    return copy


@pytest.fixture
def truth_again(copy):
    """A config under which the truth is trained anew, for long."""
    text = (copy.folder / "tests/config/tiny.yaml").read_text()
    assert "max_steps: 24" in text
    (copy.folder / "long.yaml").write_text(text.replace("max_steps: 24", "max_steps: 1000000, patience: 1000000"))
    return "long.yaml"


def test_finished_models_stand_in_the_table_and_the_others_are_named(copy):
    delete(copy, OTHER)
    before = state(copy)
    output, tables = so_far(copy)
    assert state(copy) == before
    assert {"oversmoothing", "tbat", "decodings", "decodings_pooled", "entropy_difference", "losses"} == tables
    assert "- svd: nothing yet." in output
    assert "- sample_quality: waits for results/human_quality.parquet" in output

    whole = pd.read_csv(copy.folder / TABLE).query("model == 'bn4-s1337'").reset_index(drop=True)
    table = pd.read_csv(copy.folder / "results/so_far/tables/oversmoothing.csv")
    own = table[table.model == "bn4-s1337"].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, whole, check_dtype=False)
    assert table.loc[table.model == OTHER, ["mean", "sd", "n", "low", "high"]].isna().all(axis=None)
    text = page(copy, "oversmoothing")
    row = next(line for line in text.splitlines() if line.startswith("| 16 "))
    assert [cell.strip() for cell in row.split("|")[2:4]] == ["—", "0.076 ± 0.138"]
    assert "Missing: bn16-s1337 (training: waiting)." in text
    assert "Missing:" not in (copy.folder / "results/tables/oversmoothing.md").read_text()


def test_beside_a_run_that_holds_the_lock(copy, truth_again):
    """The truth is in training, so that only what needs none is in the tables; the run goes on, its lock stays."""
    folder = copy.folder
    command = copy.command("results/models/truth/weights.safetensors", config=truth_again)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run = subprocess.Popen(command, cwd=folder, start_new_session=True, **quiet)
    try:
        limit = time.monotonic() + 600
        while not list(folder.glob("checkpoints/truth-*/resume.safetensors")):
            assert run.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.05)
        locks = sorted((folder / ".snakemake/locks").iterdir())
        assert locks
        before = state(copy)
        output, tables = so_far(copy, truth_again)
        assert run.poll() is None
        assert sorted((folder / ".snakemake/locks").iterdir()) == locks
        now = state(copy)
        assert {path for path in before | now if before.get(path) != now.get(path)} <= {
            folder / "results/logs/train/truth.log",
            folder / "results/models/truth/owner",  # its sign of life
        }
        assert "of 1,000,000, validation loss" in output
        assert {"oversmoothing", "tbat", "losses"} == tables
        assert set(pd.read_csv(folder / "results/so_far/tables/oversmoothing.csv").metric) == {"tbat"}
        assert "truth (training: step" in page(copy, "oversmoothing")
        assert "scores/tto/bn4-s1337.parquet is to be made again" in page(copy, "oversmoothing")
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def test_scores_of_other_windows_are_never_mixed_in(copy):
    text = (copy.folder / "tests/config/tiny.yaml").read_text()
    (copy.folder / "windows.yaml").write_text(text.replace("count: 6", "count: 5"))
    output, tables = so_far(copy, "windows.yaml")
    assert tables == {"losses"}
    line = next(line for line in output.splitlines() if line.startswith("To be made again"))
    assert "logits (3)" in line
    assert "windows.parquet (1)" in line
    assert "models" not in line
    assert "logits/bn4-s1337.parquet is to be made again" in page(copy, "losses")
    assert (
        pd.read_csv(copy.folder / "results/so_far/tables/losses.csv")
        .dropna(subset="mean")
        .metric.eq("validation_loss")
        .all()
    )


def test_it_can_make_nothing_that_is_missing(copy):
    delete(copy, OTHER)
    weights = f"results/models/{OTHER}/weights.safetensors"
    assert "MissingRuleException" in copy.snakemake(weights, options=SO_FAR, check=False)
    assert "MissingInputException" in copy.snakemake(TABLE, options=[*SO_FAR, "--force"], check=False)
