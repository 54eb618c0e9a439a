"""The notebook that explores the results: its cells run on those of each command, and mix no truths."""

import ast
import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from made_scores import write_scores

from oversmoothing.models.logits import logits_schema
from oversmoothing.store.parquet import vector_array, write_table

ROOT = Path(__file__).resolve().parents[1]
FAMILY = {"bn4-s1": 4, "bn16-s1": 16}
LEAK = {"truth": 0.16, "smollm2": 0.64}  # a different one against each truth
WINDOWS, SCORED = 2, 10


def cells():
    """Return the cells of the notebook that explores the results."""
    return json.loads((ROOT / "docs/explore.ipynb").read_text())["cells"]


def code():
    return ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "code"]


def write_results(folder, truths):
    """Write what `make`, or with two truths `make real`, leaves of two models; the latter lists no models."""
    rows = [
        {"table": "oversmoothing", "model": model, "rank": rank, "seed": 1, "truth": truth, "measure": "tto"}
        for truth in truths
        for model, rank in FAMILY.items()
    ]
    (folder / "tables").mkdir(parents=True)
    pd.DataFrame(rows).to_csv(folder / "tables/oversmoothing.csv", index=False)
    for model, rank in FAMILY.items():
        scores = [
            (window, truth, decoding, np.full(SCORED, LEAK[truth] / rank))
            for window in range(WINDOWS)
            for truth in truths
            for decoding in ("pure", "greedy")
        ]
        write_scores(folder / f"scores/tto/{model}.parquet", scores)
        write_table(
            folder / f"models/{model}/history.parquet", pa.table({"step": [0, 1], "validation_loss": [5, 2]}), {}
        )
    draw = np.random.default_rng(0)
    for truth in truths:
        keys = [np.repeat(np.arange(WINDOWS), SCORED), np.tile(np.arange(SCORED), WINDOWS), np.zeros(WINDOWS * SCORED)]
        fields = logits_schema(256)
        columns = [pa.array(key).cast(field.type) for key, field in zip(keys, fields, strict=False)]
        logits = vector_array(draw.normal(size=(WINDOWS * SCORED, 256)))
        write_table(folder / f"logits/{truth}.parquet", pa.table([*columns, logits], schema=fields), {})


@pytest.mark.parametrize(("place", "truths"), [("results", ["truth"]), ("results/real", ["truth", "smollm2"])])
def test_the_cells_run_on_the_results_of_make_and_of_make_real_and_mix_no_truths(tmp_path, monkeypatch, place, truths):
    write_results(tmp_path / place, truths)
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    plt.switch_backend("agg")
    plt.close("all")
    names = {}
    for source in code():
        exec(source, names)
    assert [len(plt.figure(number).axes) for number in plt.get_fignums()] == [len(truths), len(truths), 1]
    for axes, truth in zip(plt.figure(1).axes, truths, strict=True):
        assert [line.get_label() for line in axes.lines] == [
            f"{model}: mean {LEAK[truth] / rank:.3f}" for model, rank in FAMILY.items()
        ]
        assert all(len(line.get_xdata()) == WINDOWS * SCORED for line in axes.lines)
    for axes, truth in zip(plt.figure(2).axes, truths, strict=True):
        for line, rank in zip(axes.lines, FAMILY.values(), strict=True):
            np.testing.assert_allclose(line.get_ydata(), LEAK[truth] / rank, rtol=1e-6)


def test_without_results_it_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="`make` or `make real`"):
        exec(code()[0], {})


def test_it_imports_what_make_installs_and_says_how_to_get_a_kernel():
    lock = {line.partition("==")[0].lower() for line in (ROOT / "envs/lock.txt").read_text().splitlines()}
    trees = [ast.walk(ast.parse(source)) for source in code()]
    imports = [node for tree in trees for node in tree if isinstance(node, ast.Import)]
    needed = {alias.name.partition(".")[0] for node in imports for alias in node.names}
    assert needed <= lock
    assert len(needed) == 4
    if "ipykernel" not in lock:
        assert re.search(r"`\.venv/bin/pip install ipykernel`", "".join(cells()[0]["source"]))


def test_its_pictures_are_in_it():
    of_code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert [sum("image/png" in output["data"] for output in cell["outputs"]) for cell in of_code] == [0, 1, 1, 1]
