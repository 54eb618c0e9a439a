"""Forty kills at random moments, the second after a training's end among them: nothing is lost, nothing is silent.

`KILLS` in the environment changes their number, `KILL_SEED` the moments.
"""

import os
import random
import shutil
import signal
import time

import pytest
from study import TABLE, copy_project

KILLS = int(os.environ.get("KILLS", "40"))
TARGETS = (TABLE, "results/figures/oversmoothing.svg")
LIMIT = 600  # seconds of a run; only a hang takes so long
WHOM = ("everything", "everything", "Snakemake alone", "everything, gently")  # gently: SIGTERM to all


@pytest.mark.slow
def test_random_kills_lose_nothing(tmp_path):
    straight = copy_project(tmp_path / "straight")
    began = time.monotonic()
    straight.snakemake(*TARGETS)
    usual = time.monotonic() - began
    draw = random.Random(int(os.environ.get("KILL_SEED", "1")))
    counts: dict[str, int] = {}
    kills = studies = 0
    while kills < KILLS:
        study = copy_project(tmp_path / "killed")
        studies += 1
        runs = 0
        while True:
            at_an_end, whom = draw.random() < 0.5, draw.choice(WHOM)
            trained = set(study.folder.glob("results/models/*/weights.safetensors"))
            process = study.start(*TARGETS)
            until = time.monotonic() + draw.uniform(0, 0.8) * usual
            while process.poll() is None and time.monotonic() < until:
                if at_an_end and set(study.folder.glob("results/models/*/weights.safetensors")) - trained:
                    time.sleep(draw.uniform(0, 1))
                    break
                time.sleep(0.01)
            if runs < 12 and kills < KILLS and process.poll() is None:
                _kill(process, whom)
                kills += 1
                kind = f"{whom}, {'after a training' if at_an_end and time.monotonic() < until else 'anywhere'}"
                counts[kind] = counts.get(kind, 0) + 1
            process.wait(timeout=LIMIT)
            output = (study.folder / "output").read_text()
            assert "Traceback" not in output, output
            runs += 1
            assert runs < 60, output
            if process.returncode == 0:
                break
            time.sleep(1 if whom == "Snakemake alone" else 0)
            study.unlock()
        assert study.differences(straight) == []
        assert study.planned(*TARGETS) == {}
        shutil.rmtree(study.folder)
    print(f"\n{kills} kills in {studies} studies: {counts}")


def _kill(process, whom):
    if whom == "Snakemake alone":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGTERM if whom.endswith("gently") else signal.SIGKILL)
