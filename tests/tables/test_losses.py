"""Table 3.1 and Figure 3.1: losses and accuracy from histories and logits."""

import shutil
from types import SimpleNamespace

import matplotlib.image
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import losses_figure as figure_script
import losses_table as table_script
from oversmoothing.models.logits import logits_schema, window_keys
from oversmoothing.numerics.statistics import summarise
from oversmoothing.store.parquet import open_writer, vector_array, write_table
from oversmoothing.tables.losses import predictions
from oversmoothing.tables.record import read_record
from oversmoothing.training.history import lowest_loss

HISTORY = pa.table({"step": [0, 10, 20], "train_loss": [None, 3.0, 2.0], "validation_loss": [5.5, 2.5, 2.75]})


@pytest.fixture
def folder(tmp_path):
    """Two windows of four bytes, of which the most probable one is right five times in eight."""
    write_table(tmp_path / "bn4-s1/history.parquet", HISTORY, {})
    with open_writer(tmp_path / "bn4-s1.parquet", logits_schema(8), {}) as writer:
        for window, right in ((0, [1, 1, 1, 1]), (1, [1, 0, 0, 0])):
            target = np.array([3, 5, 0, 7])
            logits = np.eye(8)[np.where(right, target, (target + 1) % 8)]
            columns = [*window_keys(window, target), vector_array(logits)]
            writer.write_batch(pa.record_batch(columns, schema=logits_schema(8)))
    shutil.copy(tmp_path / "bn4-s1.parquet", tmp_path / "mine.parquet")
    return tmp_path


def test_the_loss_is_that_of_the_weights_that_were_kept(folder):
    assert lowest_loss(folder / "bn4-s1/history.parquet") == 2.5


def test_accuracy_counts_right_bytes_and_its_interval_is_over_windows(folder):
    summary = summarise(predictions(folder / "bn4-s1.parquet").right, resamples=500, seed=1)
    assert (summary.mean, summary.n) == (5 / 8, 8)
    assert summary.sd == pytest.approx(np.std([1, 1, 1, 1, 1, 0, 0, 0], ddof=1))
    assert (summary.low, summary.high) == (0.25, 1.0)


def test_the_table_sets_the_thesis_beside_ours(folder):
    pd.DataFrame({"model": ["4"] * 2, "metric": ["validation_loss", "accuracy"], "mean": [1.776, 0.572]}).to_csv(
        folder / "published.csv", index=False
    )
    models = [
        {"model": "bn4-s1", "rank": 4, "seed": 1, "published_as": "4", "differs": ["scale"]},
        {"model": "mine", "rank": None, "seed": None, "published_as": None, "differs": []},
    ]
    table_script.main(
        SimpleNamespace(
            input=SimpleNamespace(
                histories=[folder / "bn4-s1/history.parquet"],
                logits=[folder / "bn4-s1.parquet", folder / "mine.parquet"],
                published=folder / "published.csv",
            ),
            output=SimpleNamespace(
                csv=folder / "t.csv", markdown=folder / "t.md", html=folder / "t.html", latex=folder / "t.tex"
            ),
            params=SimpleNamespace(
                settings={"models": models, "unit": "byte", "resamples": 100, "seed": 1},
            ),
        )
    )
    table = read_record(folder / "t.csv").set_index(["model", "measure"])
    assert table.value.to_dict() == {
        ("bn4-s1", "validation_loss"): 2.5,
        ("bn4-s1", "accuracy"): 0.625,
        ("mine", "accuracy"): 0.625,
    }
    assert table.loc[("bn4-s1", "accuracy"), "published"] == 0.572
    rows = [line.split("|")[1:-1] for line in (folder / "t.md").read_text().splitlines() if line.startswith("| ")]
    assert [cell.strip() for cell in rows[1]][:3] == ["4", "2.500", "1.776"]
    assert [cell.strip() for cell in rows[2]][:3] == ["mine", "-", "-"]
    text = (folder / "t.tex").read_text()
    assert text.count("{") == text.count("}")


def test_the_figure_has_a_line_for_each_model_and_loss(tmp_path):
    history = HISTORY.to_pandas()
    models = [
        {"model": "bn4-s1", "kind": "family", "rank": 4},
        {"model": "bn4-s2", "kind": "family", "rank": 4},
        {"model": "truth", "kind": "truth", "rank": None},
    ]
    figure = figure_script.draw({model["model"]: history for model in models}, models, ["truth"])
    for axes in figure.axes:  # without the loss before the first step
        assert [len(line.get_xdata()) for line in axes.lines if len(line.get_xdata())] == [2] * 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["truth", "rank 4"]
    write_table(tmp_path / "h.parquet", HISTORY, {})
    paths = [tmp_path / "f.png", tmp_path / "f.svg"]
    job = {"input": [tmp_path / "h.parquet"] * 3, "output": paths}
    settings = {"models": models, "unit": "byte", "truths": ["truth"]}
    figure_script.main(SimpleNamespace(params=SimpleNamespace(settings=settings), **job))
    assert matplotlib.image.imread(paths[0]).std() > 0.05
