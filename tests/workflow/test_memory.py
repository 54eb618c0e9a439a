"""Scoring streams: its memory does not grow with the number of windows."""

import subprocess
import sys

import numpy as np
from step_jobs import write_logits
from study import ROOT

SCORED, V = 100, 256
CODE = """
import sys
from types import SimpleNamespace as N
sys.path.insert(0, sys.argv[1])
import score
class Outputs(dict):
    __getattr__ = dict.__getitem__
settings = dict(tau=0.9, truths=["truth"], decodings=[dict(name="pure"), {"name": "top-p", "p": 0.9}])
for folder in sys.argv[2:]:
    score.main(N(
        input=N(model=folder + "/model.parquet", truths=[folder + "/truth.parquet"]),
        output=Outputs(tto=folder + "/tto.parquet", kl=folder + "/kl.parquet"),
        params=N(settings=settings, device="cpu"), wildcards=N(model="model"),
    ))
    print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024)  # not that of its parent
"""


def test_more_windows_take_next_to_no_more_memory(tmp_path):
    """The larger files hold 160 MB more of logits; what may grow is their footers, some kB per row group."""
    folders = [tmp_path / str(windows) for windows in (200, 1000)]
    for folder in folders:
        folder.mkdir()
        for seed, name in enumerate(("model", "truth")):
            of_each = np.random.default_rng(seed).normal(size=(SCORED, V))
            write_logits(folder / f"{name}.parquet", dict.fromkeys(range(int(folder.name)), of_each))
    command = [sys.executable, "-c", CODE, str(ROOT / "scripts"), *map(str, folders)]
    few, many = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert many - few < 60
