"""Levels, steps and biases against truths of two kinds: solved by hand, on files, and drawn."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml
from default_config import default
from made_scores import write_scores
from step_jobs import job, outputs

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.store.parquet import write_table
from oversmoothing.tables.record import chosen, read_record
from studies.real_truth import table as step
from studies.real_truth.figure import draw
from studies.real_truth.plan import truths
from studies.real_truth.table import truths_page, truths_table

ROOT = Path(__file__).resolve().parents[3]
RANKS, SEEDS = (4, 8, 288), (1, 2, 3)
TRUTHS = {"own": ["truth"], "real": ["lm", "lm-warm", "gemma"], "main": ["truth", "lm", "gemma"]}
MODELS = [
    {"model": f"bn{rank}-s{seed}", "kind": "family", "rank": rank, "seed": seed, "arm": f"bn{rank}"}
    for rank in RANKS
    for seed in SEEDS
]
LEVEL = {4: 0.3, 8: 0.2, 288: 0.1}
HIDDEN = {"truth": 0.0, "lm": 0.2, "lm-warm": 0.25, "gemma": 0.22}


def level(rank, seed, truth):
    """A seed moves every rank alike, and against one truth the low rank a little more."""
    return LEVEL[rank] + HIDDEN[truth] + 0.01 * seed + 0.002 * seed * (rank == 4 and truth == "lm")


@pytest.fixture
def values():
    rows = [
        (model["model"], truth, name, level(model["rank"], model["seed"], truth))
        for model in MODELS
        for truth in HIDDEN
        for name in (*AGAINST_TRUTHS, "forced", "forced_share", "forced_of", "best", "best_share", "best_of")
    ]
    return pd.DataFrame(rows, columns=["model", "truth", "measure", "value"])


@pytest.fixture
def between():
    rows = [
        {"model": a, "kind": "truth", "truth": b, "measure": name, "value": 0.26, "low": 0.25, "high": 0.27, "n": 50}
        for a, b in (("truth", "lm"), ("lm", "truth"), ("lm-warm", "lm"), ("gemma", "lm"))
        for name in AGAINST_TRUTHS
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def table(values, between):
    return truths_table(values, between, MODELS, TRUTHS)


def found(table, **where):
    (only,) = chosen(table, measure="tto", **where).to_dict("records")
    return only


def test_levels_are_means_over_seeds(table):
    own = found(table, kind="family", truth="truth", rank=8, less=None)
    assert (own["value"], own["low"], own["high"]) == pytest.approx(student_interval([0.21, 0.22, 0.23]))
    assert own["n"] == 3
    assert own["better"] == "lower"


def test_differences_are_paired_by_seed(table):
    step = found(table, truth="lm", rank=4, less="rank 8")
    assert (step["value"], step["low"]) == pytest.approx(student_interval([0.102, 0.104, 0.106])[:2])
    assert found(table, truth="lm", rank=4, less="rank 288")["value"] == pytest.approx(0.204)
    assert found(table, truth="truth", rank=8, less="rank 288")["low"] == pytest.approx(0.1)
    assert len(table[(table.measure == "tto") & table.less.str.startswith("rank", na=False)]) == 4 * 3


def test_a_real_truth_is_held_against_the_main_ones(table):
    assert found(table, truth="lm", rank=8, less="truth")["value"] == pytest.approx(0.2)
    assert found(table, truth="lm-warm", rank=8, less="lm")["value"] == pytest.approx(0.05)
    assert found(table, truth="lm-warm", rank=8, less="gemma")["value"] == pytest.approx(0.03)
    assert not (table.truth == table.less).any()
    assert not ((table.truth == "truth") & table.less.isin([*HIDDEN])).any()


def test_the_page_has_all_levels_and_the_truths_as_models(table):
    page = truths_page(table, TRUTHS)
    sections = {section.heading: section for section in page.sections}
    assert [len(sections[f"Against `{name}`"].rows) for name in TRUTHS["main"]] == [3, 3, 3]
    assert len(sections["What heads force of KL"].rows) == 9
    assert sections["TTO by truth"].columns == ["rank", "truth", "lm", "lm-warm", "gemma"]
    assert sections["TTO by truth, less that against `truth`"].columns == ["rank", "lm", "lm-warm", "gemma"]
    assert [row["model"] for row in sections["Truths as models"].rows] == ["truth", "lm", "lm-warm", "gemma"]
    assert sections["TTO less that of a higher rank"].rows[0].keys() == {"rank", "less", *HIDDEN}


def test_the_figure_has_a_line_for_each_truth_and_bars_for_the_main_ones(table):
    figure = draw(table, TRUTHS)
    leak, parts = figure.axes
    assert len(leak.containers) == 4
    assert [len(bars) for bars in parts.containers] == [3] * 6
    assert parts.containers[1][0].get_height() == pytest.approx(0.32)
    assert [line.get_ydata()[0] for line in leak.get_lines()[-2:]] == [0.26, 0.26]  # own and gemma, against lm


def score_files(folder, frame):
    """Files of scores, one for each measure and model, of two windows."""
    return [
        write_scores(
            folder / measure / f"{model}.parquet",
            [
                (at, truth, "pure", np.full(25, v))
                for truth, v in zip(part.truth, part.value, strict=True)
                for at in (0, 1)
            ],
        )
        for (measure, model), part in frame.groupby(["measure", "model"], sort=False)
    ]


def write_forced(folder, column):
    """Files of what heads force: a third of a KL of 0.6 where no head was fitted."""
    paths = []
    for model in MODELS:
        frame = pd.DataFrame({"truth": [*HIDDEN] * 2, "kl": [0.6] * 4 + [9.0] * 4, column: [0.2] * 4 + [0.0] * 4})
        if column == "best":
            frame["fitted"] = [False] * 4 + [True] * 4
        else:
            frame = frame[:4]
        paths.append(folder / f"{model['model']}.parquet")
        write_table(paths[-1], pa.Table.from_pandas(frame, preserve_index=False), {})
    return paths


def test_the_step_writes_the_table_and_the_figure(tmp_path, values, between):
    output = outputs(tmp_path)
    inputs = {
        "scores": score_files(tmp_path / "scores", values[values.measure.isin(AGAINST_TRUTHS)]),
        "truths": score_files(tmp_path / "truths", between),
        "forced": write_forced(tmp_path / "forced", "forced"),
        "best_heads": write_forced(tmp_path / "best", "best"),
    }
    step.main(job(inputs, output, {"resamples": 50, "seed": 1, "models": MODELS, "truths": TRUTHS}))
    table = read_record(output.csv)
    assert found(table, truth="lm", rank=4, less="rank 8")["value"] == pytest.approx(0.104, rel=1e-5)
    assert found(table, model="truth", truth="lm")["n"] == 50
    shares = table[table.measure.isin(["forced_share", "best_share"]) & table.less.isna()]
    assert len(shares) == 2 * 3 * 4
    assert shares.value.to_numpy() == pytest.approx(1 / 3)
    assert "Truths as models" in output.markdown.read_text()
    assert output.png.stat().st_size > 10_000


def test_of_each_real_model_one_view_is_compared_with_the_others():
    config = default(**yaml.safe_load((ROOT / "config/real_truth.yaml").read_text()))
    cooler = {**config["truths"][1], "name": "cool", "temperature": 0.8}
    for more in ([], [cooler]):
        named = truths(config | {"truths": [*config["truths"], *more]})
        assert named["main"] == ["truth", "smollm2", "gemma"]
        assert len(named["real"]) == 2 + len(more)
