"""What the metrics cost: positions read, ways to TBAT compared, and the table; and the published times."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file
from step_jobs import job, outputs, write_logits

from oversmoothing.jobs import UserError
from oversmoothing.models.drawn_rows import read_rows
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.published import read_published
from oversmoothing.tables.record import record
from studies.metric_cost import measure as costs
from studies.metric_cost import table as step
from studies.metric_cost.figure import draw
from studies.metric_cost.measure import median_seconds, time_positions
from studies.metric_cost.table import cost_page, cost_table
from studies.metric_cost.timed import RATIO, TIMED

V, SCORED = 24, 5
NAMES = ["TV", "KL", "NSMD", "TTO", "TBAT here", "TBAT as published:\none LP per token"]
PUBLISHED = Path(__file__).resolve().parents[3] / "resources/published/table_i_1.csv"
MODELS = [{"model": "bn4-s1", "published_as": "4"}, {"model": "bn20-s1", "published_as": "512"}]


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(9)
    for name, rank, first in (("bn4-s1", 4, 0), ("bn20-s1", 30, 0), ("truth", 2, 0), ("other", 2, 1)):
        windows = range(first, first + 6)
        write_logits(tmp_path / f"{name}.parquet", {window: rng.normal(size=(SCORED, V)) for window in windows})
        save_file({"head.weight": rng.normal(size=(V, rank)).astype(np.float32)}, tmp_path / f"{name}.safetensors")
    return tmp_path


@pytest.fixture
def times(files):
    """Time some positions of a model, with a head of some rank, beside a truth."""

    def time(rank, rows=(12,), model="bn4-s1", truth="truth", **limits):
        read = (read_rows(files / f"{name}.parquet", ["logits"], np.array(rows)) for name in (model, truth))
        head = np.random.default_rng(0).normal(size=(V, rank))
        return list(time_positions(model, head, *read, 0.9, 0.22, **limits))

    return time


@pytest.fixture
def table():
    times = [("bn20-s1", 30, 1e-5, 30), ("bn4-s1", 4, 1e-4, 0.5), ("bn4-s1", 4, 2e-4, 0.6), ("bn4-s1", 4, 3e-4, 0.6)]
    rows = [
        {"model": model, "rank": rank, **dict.fromkeys(TIMED, 3e-5), "tbat": fast, "tbat_published_method": slow}
        for model, rank, fast, slow in times
    ]
    return cost_table(pd.DataFrame(rows), MODELS, read_published([PUBLISHED]))


def test_above_the_highest_rank_the_published_method_does_not_run(times, monkeypatch):
    monkeypatch.setattr(costs, "reject_set_by_linear_programs", None)
    (row,) = times(30, model="bn20-s1", highest_rank=29)
    assert row["tbat_published_method"] is None
    assert row["tbat"] > 0
    other = {"model": "bn4-s1", "rank": 4, **dict.fromkeys(TIMED, 1e-4)}
    table = cost_table(pd.DataFrame([other, row]), MODELS, read_published([PUBLISHED]))
    seconds = table[table.model == "bn20-s1"].set_index("measure").value
    assert seconds[["tbat_published_method", "ratio"]].isna().all()
    assert "nan" not in markdown(cost_page(table, "Costs"))


def test_unlike_sets_are_an_error_that_names_model_and_position(times, monkeypatch):
    right = costs.reject_set_by_linear_programs
    monkeypatch.setattr(costs, "reject_set_by_linear_programs", lambda *given: right(*given) ^ (np.arange(V) == 3))
    with pytest.raises(UserError, match=r"bn4-s1, window 2, position 2: .* differ at token 3 \(1 in all\)"):
        times(4)


def test_tokens_left_undecided_are_not_compared(monkeypatch):
    p = np.full(4, 0.25)
    sets = SimpleNamespace(rejected=np.zeros((1, 4), bool), undecided=np.array([[False, True, False, False]]))
    monkeypatch.setattr(costs, "reject_set", lambda *arguments: sets)
    monkeypatch.setattr(costs, "reject_set_by_linear_programs", lambda *arguments: np.arange(4) == 1)
    assert costs.time_reject_sets("here", np.zeros((4, 1)), None, p, 0.22)["tbat"] > 0


def test_other_windows_are_an_error(times):
    with pytest.raises(UserError, match="bn4-s1: its logits and the truth's come from other windows"):
        times(4, truth="other")


def test_the_table_sets_the_thesis_beside_ours(table):
    assert table.model.tolist() == ["bn4-s1"] * 13 + ["bn20-s1"] * 13
    cells = table.set_index(["model", "measure"])
    ours, published = cells.loc[("bn4-s1", "tbat")], cells.loc[("bn4-s1", "tbat_published_method")]
    assert (ours.value, cells.value["bn4-s1", "tbat_median"], ours.n) == pytest.approx((2e-4, 2e-4, 3))
    assert ours.sd == pytest.approx(1e-4)
    assert cells.value["bn4-s1", "ratio"] == pytest.approx(3000)  # the median of 5000, 3000 and 2000
    assert ours.published == published.published == 0.569
    assert cells.loc[("bn20-s1", "kl"), "published_sd"] == 8.07e-6
    assert pd.isna(cells.loc[("bn20-s1", "kl"), "sd"])
    text = markdown(cost_page(table, "Title."))
    lines = [line for line in text.splitlines() if line.startswith(("| rank", "| 4 "))]
    row = dict(zip(*([cell.strip() for cell in line.split("|")] for line in lines), strict=True))
    assert row["TBAT (µs) ↓"] == "200.0 ± 100.0"
    assert row["TBAT, one LP per token (s) ↓"] == "0.57 ± 0.06"
    assert row["published TTO (µs)"] == "187.0 ± 276.0"
    assert "Rank 30 stands beside the thesis's 512." in text


def test_scripts_time_positions_and_set_the_table(files):
    names = [facts["model"] for facts in MODELS]
    heads = [files / f"{name}.safetensors" for name in names]
    inputs = {"logits": [files / f"{name}.parquet" for name in names], "truth": files / "truth.parquet"}
    settings = {"positions": 2, "seed": 1, "tau": 0.9, "delta": 0.22, "highest_rank": None, "models": names}
    costs.main(job(inputs | {"weights": heads}, files / "costs.parquet", settings))
    output = outputs(files)
    step.main(job({"costs": files / "costs.parquet", "published": PUBLISHED}, output, {"models": MODELS}))
    seconds = pd.read_parquet(files / "costs.parquet")
    assert seconds.model.tolist() == [name for name in names for _ in range(2)]
    assert (seconds[list(TIMED)] > 0).all(axis=None)
    assert (seconds.tbat < seconds.tbat_published_method)[:2].all()
    calls = []
    assert median_seconds(lambda: calls.append(1), repeats=4) < 0.1
    assert len(calls) == 5  # the first is left out
    written = pd.read_csv(output.csv)
    assert len(written) == 26
    assert (written.n[written.measure != "ratio"] == 2).all()
    assert (written["rank"].unique() == [4, 30]).all()
    assert all(path.stat().st_size > 10_000 for path in (output.png, output.svg))


def seconds():
    rows = []
    for rank, known in ((4, "4"), (8, "8"), (288, "512")):
        for i, metric in enumerate(TIMED):
            mean = (10.0 ** (i - 5)) * rank
            row = {"model": f"bn{rank}-s1", "rank": rank, "measure": metric, "value": mean, "n": 2}
            rows.append(row | {"published_model": known, "published": 2 * mean})
        rows.append({"model": f"bn{rank}-s1", "rank": rank, "measure": RATIO, "value": 1234.0})
    return record(rows)


def texts(figure):
    axes = figure.axes[0]
    return [text.get_text() for text in (*axes.texts, *axes.get_legend().get_texts(), *axes.get_xticklabels())]


def test_every_metric_has_a_line_and_a_look_of_its_own():
    figure = draw(seconds())
    heights = [line.get_ydata().tolist() for line in figure.axes[0].lines]
    for metric, own in seconds()[lambda table: table.measure != RATIO].groupby("measure"):
        assert own.value.tolist() in heights
        assert (own.published.tolist() in heights) == (metric != "tbat")
    measured = [line for line in figure.axes[0].lines if line.get_linewidth() == 1.8 and len(line.get_xdata()) == 3]
    assert len({(line.get_color(), line.get_marker()) for line in measured}) == len(measured) == len(TIMED)
    assert set(NAMES) <= set(texts(figure))
    assert "512" in texts(figure)
    assert "the thesis, on other hardware" in texts(figure)
    assert texts(figure).count("1,200\N{MULTIPLICATION SIGN}") == 3
